(* Numbers and labels of a file, read as checker.py reads them. *)

exception Stop of string * int  (* why the proof is not verified, and the exit status *)

let refuted = 1
let bad_input = 2
let undecided = 3
let need ?(status = bad_input) condition complaint = if not condition then raise (Stop (Lazy.force complaint, status))

let is_digit c = c >= '0' && c <= '9'
let is_blank c = c = ' ' || c = '\t'

(* The parts of a numeral: its sign, the digits before and after the point, the exponent as it stands. *)
type numeral = { minus : bool; whole : string; point : bool; fraction : string; exponent : string }

let numeral s =
  let n = String.length s in
  let at i = if i < n then s.[i] else '\000' in
  let rec run f i = if i < n && f s.[i] then run f (i + 1) else i in
  let a = run is_blank 0 in
  let b = if at a = '+' || at a = '-' then a + 1 else a in
  let c = run is_digit b in
  let point = at c = '.' in
  let d = if point then run is_digit (c + 1) else c in
  if c = b && (not point || d = c + 1) then None
  else begin
    let e =
      if at d = 'e' || at d = 'E' then
        let m = if at (d + 1) = '+' || at (d + 1) = '-' then d + 2 else d + 1 in
        let k = run is_digit m in if k > m then k else d
      else d in
    if run is_blank e < n then None
    else
      let fraction = if point then String.sub s (c + 1) (d - c - 1) else "" in
      let exponent = if e > d then String.sub s (d + 1) (e - d - 1) else "" in
      Some { minus = at a = '-'; whole = String.sub s b (c - b); point; fraction; exponent }
  end

let is_numeral s = numeral s <> None
let float_of s = float_of_string (Text.strip_of " \t" s)

(* An exponent of ten digits or more. *)
let is_beyond x =
  let digits = Text.strip_of "+-" x.exponent in
  String.length digits >= 10

(* Sign, digits without zeros at either end, and the power of ten of the last: the same for equal numbers. *)
let canonical x =
  let digits = x.whole ^ x.fraction in
  let exponent = if x.exponent = "" then 0 else int_of_string (let e = x.exponent in if e.[0] = '+' then String.sub e 1 (String.length e - 1) else e) in
  let last = exponent - String.length x.fraction in
  let n = String.length digits in
  let j = ref n in
  while !j > 0 && digits.[!j - 1] = '0' do decr j done;
  let i = ref 0 in
  while !i < !j && digits.[!i] = '0' do incr i done;
  if !i = !j then (false, "", 0) else (x.minus, String.sub digits !i (!j - !i), last + n - !j)

let decimal_int s =  (* int_of_string would read 0x, 0o and 0b *)
  canonical (Option.get (numeral s))

(* The shortest decimal that is read as this double. *)
let shortest v =
  let rec go p = let s = Printf.sprintf "%.*e" p v in if p >= 16 || float_of_string s = v then s else go (p + 1) in
  go 0

(* Is the number the decimal of its binary64? *)
let is_its_double s =
  match numeral s with
  | None -> false
  | Some x -> (not (is_beyond x)) && canonical x = decimal_int (shortest (float_of s))

let tens = Z.pow (Z.of_int 10) 38

type value = Integer of Z.t | Double of float

let show s = Text.cut 40 s

(* The number that a text denotes. *)
let read_number field numbers =
  let field = match String.lowercase_ascii field with "true" -> "1" | "false" -> "0" | _ -> field in
  let x = numeral field in
  need (x <> None && Float.abs (float_of field) < infinity) (lazy (Text.cut 40 (Text.ascii field) ^ " is not a finite number"));
  let x = Option.get x in
  if numbers = "decimal" then begin
    let refuse = lazy (show field ^ " has more decimals than can be checked") in
    need (not (is_beyond x)) refuse;
    let minus, digits, power = canonical x in
    if digits = "" then Integer Z.zero
    else begin
      let adjusted = power + String.length digits - 1 in
      need (abs adjusted < 600 && power + 38 >= 0) refuse;
      let v = Z.mul (Z.of_string_base 10 digits) (Z.pow (Z.of_int 10) (power + 38)) in
      Integer (if minus then Z.neg v else v)
    end
  end
  else begin
    let rec after i s = if i < String.length s - 1 && s.[i] = '0' then after (i + 1) s else String.sub s i (String.length s - i) in
    if x.point || x.exponent <> "" then begin
      let v = float_of field in
      let is_zero = String.for_all (fun c -> c = '0') (x.whole ^ x.fraction) in
      need (v <> 0. || is_zero) (lazy (show field ^ " is not 0, but its nearest binary64 is"));
      Double v
    end
    else begin
      let digits = after 0 x.whole in
      let v = Z.of_string_base 10 digits in
      need (numbers <> "binary64" || Z.equal v (Z.of_float (Z.to_float v))) (lazy ("binary64 would round the integer " ^ show field));
      Integer (if x.minus then Z.neg v else v)
    end
  end

(* Labels. *)
type label = Word of string | Whole of Z.t | Real of float | Truth of bool

let value_of = function
  | Word _ -> None
  | Whole v -> Some (Q.of_bigint v)
  | Real v -> Some (Q.of_float v)
  | Truth b -> Some (Q.of_int (Bool.to_int b))

let same_label a b =
  match (a, b) with
  | Word s, Word t -> s = t
  | _ -> ( match (value_of a, value_of b) with Some x, Some y -> Q.equal x y | _ -> false)

let is_label field label =
  match label with
  | Word s -> field = s
  | Truth b -> String.lowercase_ascii (Text.strip field) = string_of_bool b
  | _ ->
      is_numeral field
      && ( match read_number field "exact-integers" with
         | Integer v -> Q.equal (Q.of_bigint v) (Option.get (value_of label))
         | Double v -> Q.equal (Q.of_float v) (Option.get (value_of label)) && is_its_double field)

(* Is the label a text that files have as a number? *)
let is_number = function
  | Word s when is_numeral s && Float.abs (float_of s) < infinity ->
      let bare = Text.strip_of " \t+-" s in
      (bare <> "" && String.for_all is_digit bare) || is_its_double s
  | _ -> false

(* Is a cell of the first line a value, and not a name? *)
let is_value s =
  is_numeral s
  ||
  let word = String.lowercase_ascii (Text.strip s) in
  let unsigned = if word <> "" && (word.[0] = '+' || word.[0] = '-') then String.sub word 1 (String.length word - 1) else word in
  List.mem unsigned [ "nan"; "inf"; "infinity" ] || List.mem word [ "true"; "false"; "na"; "n/a"; "null"; "none"; "" ]
