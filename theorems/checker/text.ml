(* Texts: UTF-8, Python's ascii(), white space. *)

exception Bad_utf8 of int  (* where *)

(* The character at i and the place of the next; surrogates pass if asked for, as in Python's JSON. *)
let decode ?(surrogates = false) s i =
  let n = String.length s in
  let byte k = if k < n then Char.code s.[k] else raise (Bad_utf8 i) in
  let more k = let b = byte k in if b land 0xc0 = 0x80 then b land 0x3f else raise (Bad_utf8 i) in
  let b = byte i in
  if b < 0x80 then (b, i + 1)
  else if b >= 0xc2 && b < 0xe0 then (((b land 0x1f) lsl 6) lor more (i + 1), i + 2)
  else if b >= 0xe0 && b < 0xf0 then begin
    let c = ((b land 0xf) lsl 12) lor (more (i + 1) lsl 6) lor more (i + 2) in
    if c < 0x800 || ((not surrogates) && c >= 0xd800 && c < 0xe000) then raise (Bad_utf8 i);
    (c, i + 3)
  end
  else if b >= 0xf0 && b < 0xf5 then begin
    let c = ((b land 7) lsl 18) lor (more (i + 1) lsl 12) lor (more (i + 2) lsl 6) lor more (i + 3) in
    if c < 0x10000 || c > 0x10ffff then raise (Bad_utf8 i);
    (c, i + 4)
  end
  else raise (Bad_utf8 i)

let validate ?(surrogates = false) s =
  let i = ref 0 in
  while !i < String.length s do
    if Char.code s.[!i] < 0x80 then incr i else i := snd (decode ~surrogates s !i)
  done

let without_bom s =
  if String.length s >= 3 && String.sub s 0 3 = "\xef\xbb\xbf" then String.sub s 3 (String.length s - 3) else s

let encode buffer c =
  let put x = Buffer.add_char buffer (Char.chr x) in
  if c < 0x80 then put c
  else if c < 0x800 then (put (0xc0 lor (c lsr 6)); put (0x80 lor (c land 0x3f)))
  else if c < 0x10000 then (
    put (0xe0 lor (c lsr 12)); put (0x80 lor ((c lsr 6) land 0x3f)); put (0x80 lor (c land 0x3f)))
  else (
    put (0xf0 lor (c lsr 18)); put (0x80 lor ((c lsr 12) land 0x3f));
    put (0x80 lor ((c lsr 6) land 0x3f)); put (0x80 lor (c land 0x3f)))

let characters s =
  let rec go i found = if i >= String.length s then List.rev found
    else let c, next = decode ~surrogates:true s i in go next (c :: found) in
  go 0 []

(* Python's ascii(). *)
let ascii s =
  let quote = if String.contains s '\'' && not (String.contains s '"') then '"' else '\'' in
  let buffer = Buffer.create (String.length s + 2) in
  let add = Buffer.add_string buffer in
  Buffer.add_char buffer quote;
  List.iter (fun c ->
      if c = 10 then add "\\n" else if c = 13 then add "\\r" else if c = 9 then add "\\t" else if c = 92 then add "\\\\"
      else if c = Char.code quote then (add "\\"; Buffer.add_char buffer quote)
      else if c >= 32 && c < 127 then Buffer.add_char buffer (Char.chr c)
      else if c < 256 then add (Printf.sprintf "\\x%02x" c)
      else if c < 65536 then add (Printf.sprintf "\\u%04x" c)
      else add (Printf.sprintf "\\U%08x" c)) (characters s);
  Buffer.add_char buffer quote;
  Buffer.contents buffer

let cut n s = if String.length s > n then String.sub s 0 n else s

let is_space c =
  (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c = 0x85 || c = 0xa0 || c = 0x1680 || (c >= 0x2000 && c <= 0x200a)
  || c = 0x2028 || c = 0x2029 || c = 0x202f || c = 0x205f || c = 0x3000

let strip s =
  let rec front = function c :: rest when is_space c -> front rest | l -> l in
  let kept = List.rev (front (List.rev (front (characters s)))) in
  let buffer = Buffer.create (String.length s) in
  List.iter (encode buffer) kept;
  Buffer.contents buffer

let strip_of set s =
  let is_in c = String.contains set c in
  let i = ref 0 and j = ref (String.length s) in
  while !i < !j && is_in s.[!i] do incr i done;
  while !j > !i && is_in s.[!j - 1] do decr j done;
  String.sub s !i (!j - !i)
