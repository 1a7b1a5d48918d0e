(* JSON, as far as written proofs have it: bare integers and NaN are refused, and so are repeated fields. *)

type t = Null | Bool of bool | Number of float | Text of string | List of t list | Object of (string * t) list

exception Error of string

let fail i what = raise (Error (Printf.sprintf "%s at byte %d" what i))
let deepest = 200

let parse s =
  let n = String.length s in
  let at i = if i < n then s.[i] else '\000' in
  let rec blank i = if i < n && (s.[i] = ' ' || s.[i] = '\t' || s.[i] = '\n' || s.[i] = '\r') then blank (i + 1) else i in
  let hex4 i =
    if i + 4 > n then fail i "a bad escape";
    let value = ref 0 in
    for k = i to i + 3 do
      let d = match s.[k] with
        | '0' .. '9' as c -> Char.code c - 48
        | 'a' .. 'f' as c -> Char.code c - 87
        | 'A' .. 'F' as c -> Char.code c - 55
        | _ -> fail i "a bad escape" in
      value := (16 * !value) + d
    done;
    !value in
  let text i =
    let buffer = Buffer.create 16 in
    let rec go i =
      if i >= n then fail i "a text without end";
      match s.[i] with
      | '"' -> i + 1
      | '\\' -> (
          let plain c = Buffer.add_char buffer c; go (i + 2) in
          match at (i + 1) with
          | '"' -> plain '"' | '\\' -> plain '\\' | '/' -> plain '/' | 'b' -> plain '\b' | 'f' -> plain '\012'
          | 'n' -> plain '\n' | 'r' -> plain '\r' | 't' -> plain '\t'
          | 'u' ->
              let c = hex4 (i + 2) in
              if c >= 0xd800 && c < 0xdc00 && at (i + 6) = '\\' && at (i + 7) = 'u' then begin
                let d = hex4 (i + 8) in
                if d >= 0xdc00 && d < 0xe000 then begin
                  Text.encode buffer (0x10000 + ((c - 0xd800) lsl 10) + (d - 0xdc00)); go (i + 12)
                end
                else begin Text.encode buffer c; go (i + 6) end
              end
              else begin Text.encode buffer c; go (i + 6) end
          | _ -> fail i "a bad escape")
      | c when c < ' ' -> fail i "a control character"
      | c -> Buffer.add_char buffer c; go (i + 1) in
    let next = go i in
    (Buffer.contents buffer, next) in
  let number i =
    let digits i = let rec go k = if at k >= '0' && at k <= '9' then go (k + 1) else k in go i in
    let j = if at i = '-' then i + 1 else i in
    let k = if at j = '0' then j + 1 else digits j in
    if k = j then fail i "no value";
    let f = if at k = '.' && digits (k + 1) > k + 1 then digits (k + 1) else k in
    let e =
      if at f = 'e' || at f = 'E' then
        let m = if at (f + 1) = '+' || at (f + 1) = '-' then f + 2 else f + 1 in
        if digits m > m then digits m else f
      else f in
    if e = k then fail i "a bare integer";
    (Number (float_of_string (String.sub s i (e - i))), e) in
  let word i w value = if i + String.length w <= n && String.sub s i (String.length w) = w then (value, i + String.length w) else fail i "no value" in
  let rec value depth i =
    if depth > deepest then fail i "too deep";
    match at i with
    | '"' -> let t, next = text (i + 1) in (Text t, next)
    | '{' ->
        let i = blank (i + 1) in
        if at i = '}' then (Object [], i + 1) else fields depth i []
    | '[' ->
        let i = blank (i + 1) in
        if at i = ']' then (List [], i + 1) else items depth i []
    | 't' -> word i "true" (Bool true)
    | 'f' -> word i "false" (Bool false)
    | 'n' -> word i "null" Null
    | _ -> number i
  and fields depth i found =
    if at i <> '"' then fail i "no name of a field";
    let name, next = text (i + 1) in
    let next = blank next in
    if at next <> ':' then fail next "no colon";
    let v, next = value (depth + 1) (blank (next + 1)) in
    let next = blank next and found = (name, v) :: found in
    if at next = ',' then fields depth (blank (next + 1)) found
    else if at next = '}' then begin
      let names = List.map fst found in
      if List.length (List.sort_uniq compare names) < List.length names then fail i "a repeated field";
      (Object (List.rev found), next + 1)
    end
    else fail next "no end of an object"
  and items depth i found =
    let v, next = value (depth + 1) i in
    let next = blank next and found = v :: found in
    if at next = ',' then items depth (blank (next + 1)) found
    else if at next = ']' then (List (List.rev found), next + 1)
    else fail next "no end of a list" in
  let v, next = value 0 (blank 0) in
  if blank next < n then fail next "something after the end";
  v

(* As json.dumps writes it. *)
let quoted s =
  let buffer = Buffer.create (String.length s + 2) in
  let add = Buffer.add_string buffer in
  add "\"";
  List.iter (fun c ->
      if c = 34 then add "\\\"" else if c = 92 then add "\\\\" else if c = 10 then add "\\n" else if c = 13 then add "\\r"
      else if c = 9 then add "\\t" else if c = 8 then add "\\b" else if c = 12 then add "\\f"
      else if c >= 32 && c < 127 then Buffer.add_char buffer (Char.chr c)
      else if c < 0x10000 then add (Printf.sprintf "\\u%04x" c)
      else let c = c - 0x10000 in add (Printf.sprintf "\\u%04x\\u%04x" (0xd800 + (c lsr 10)) (0xdc00 + (c land 0x3ff)))) (Text.characters s);
  add "\"";
  Buffer.contents buffer

let rec print = function
  | Null -> "null"
  | Bool b -> string_of_bool b
  | Number x -> Printf.sprintf "%.17g" x
  | Text s -> quoted s
  | List l -> "[" ^ String.concat ", " (List.map print l) ^ "]"
  | Object l -> "{" ^ String.concat ", " (List.map (fun (k, v) -> quoted k ^ ": " ^ print v) l) ^ "}"
