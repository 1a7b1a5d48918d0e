(* Rows of a CSV file: commas, quotation marks, line ends LF, CRLF or CR; strict. Blank lines are not rows. *)

exception Error of string

let largest = 1 lsl 26

type t = { text : string; mutable place : int; bad : int  (* where the text stops being UTF-8 *) }

let chunk = 8192

let read text =
  let bom = if String.length text >= 3 && String.sub text 0 3 = "\xef\xbb\xbf" then 3 else 0 in
  let bad = try Text.validate text; max_int with Text.Bad_utf8 i -> i / chunk * chunk in
  { text; place = bom; bad }

(* The next row, or None at the end. *)
let rec next file =
  let s = file.text and n = min (String.length file.text) file.bad in
  let fields = ref [] and field = Buffer.create 16 and count = ref 0 in
  let add c =
    if Char.code c land 0xc0 <> 0x80 then incr count;
    if !count > largest then raise (Error "field larger than field limit (67108864)");
    Buffer.add_char field c in
  let save () = fields := Buffer.contents field :: !fields; Buffer.clear field; count := 0 in
  let finish i = file.place <- i; Some (List.rev !fields) in
  (* after a line end at i *)
  let after i = if s.[i] = '\r' && i + 1 < n && s.[i + 1] = '\n' then i + 2 else i + 1 in
  let over () = if n < String.length s then raise (Text.Bad_utf8 n) in
  let rec start i =
    if i >= n then (over (); save (); finish i)
    else match s.[i] with
      | '\n' | '\r' -> save (); finish (after i)
      | '"' -> quoted (i + 1)
      | ',' -> save (); start (i + 1)
      | c -> add c; plain (i + 1)
  and plain i =
    if i >= n then (over (); save (); finish i)
    else match s.[i] with
      | '\n' | '\r' -> save (); finish (after i)
      | ',' -> save (); start (i + 1)
      | c -> add c; plain (i + 1)
  and quoted i =
    if i >= n then (over (); raise (Error "unexpected end of data"))
    else match s.[i] with
      | '"' -> closing (i + 1)
      | c -> add c; quoted (i + 1)
  and closing i =
    if i >= n then (over (); save (); finish i)
    else match s.[i] with
      | '"' -> add '"'; quoted (i + 1)
      | ',' -> save (); start (i + 1)
      | '\n' | '\r' -> save (); finish (after i)
      | _ -> raise (Error "',' expected after '\"'") in
  let i = file.place in
  if i >= n then (over (); None)
  else if s.[i] = '\n' || s.[i] = '\r' then (file.place <- after i; next file)
  else start i
