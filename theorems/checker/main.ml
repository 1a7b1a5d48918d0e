(* The shell around the verified checker: options, the written proof, the CSV file, words. Trusted, not proved.

     linsep-checker proof.json data.csv [--label COLUMN] [--header]
                    [--bias | --no-bias] [--positive LABEL] [--numbers HOW] [--json]

   It answers as `python -m linsep.checker` does. VERIFIED is printed where Verified.check or Verified.check_classes says Fine,
   and nowhere else. *)

open Numbers

let verdicts = [| "VERIFIED"; "REFUTED"; "BAD INPUT"; "UNDECIDED" |]

(* 1. Options. *)
type options = {
  mutable paths : string list;
  mutable label : string option;
  mutable header : bool;
  mutable bias : bool option;
  mutable positive : string option;
  mutable numbers : string option;
  mutable json : bool;
}

let usage = "usage: linsep-checker proof.json data.csv [--label COLUMN] [--header] [--bias | --no-bias] [--positive LABEL] [--numbers {binary64,decimal}] [--json]"

let options_of arguments =
  let o = { paths = []; label = None; header = false; bias = None; positive = None; numbers = None; json = false } in
  let misused why = prerr_endline (usage ^ "\nlinsep-checker: error: " ^ why); exit bad_input in
  let rec go = function
    | [] -> ()
    | "--" :: rest -> o.paths <- List.rev_append rest o.paths
    | "--label" :: v :: rest -> o.label <- Some v; go rest
    | "--positive" :: v :: rest -> o.positive <- Some v; go rest
    | "--numbers" :: (("binary64" | "decimal") as v) :: rest -> o.numbers <- Some v; go rest
    | "--header" :: rest -> o.header <- true; go rest
    | "--bias" :: rest -> o.bias <- Some true; go rest
    | "--no-bias" :: rest -> o.bias <- Some false; go rest
    | "--json" :: rest -> o.json <- true; go rest
    | ("-h" | "--help") :: _ -> print_endline usage; exit 0
    | word :: rest when String.length word > 2 && String.sub word 0 2 = "--" && String.contains word '=' ->
        let i = String.index word '=' in
        go (String.sub word 0 i :: String.sub word (i + 1) (String.length word - i - 1) :: rest)
    | word :: _ when String.length word > 1 && word.[0] = '-' -> misused ("unrecognized arguments: " ^ word)
    | word :: rest -> o.paths <- word :: o.paths; go rest in
  go arguments;
  match List.rev o.paths with
  | [ proof; data ] -> (o, proof, data)
  | _ -> misused "a proof and a file of rows are needed"

(* 2. The proof. A form is a test of a value. *)
open Json

let rec all_digits s i j = i >= j || (is_digit s.[i] && all_digits s (i + 1) j)
let is_hex c = is_digit c || (c >= 'a' && c <= 'f')

let is_count s =
  let n = String.length s in
  s = "0" || (n >= 1 && n <= 18 && s.[0] >= '1' && s.[0] <= '9' && all_digits s 1 n)

let is_plus s =
  let n = String.length s in
  if n >= 3 && s.[0] = '0' && s.[1] = 'x' then
    s.[2] <> '0' && n - 2 <= 1048576 && String.for_all is_hex (String.sub s 2 (n - 2))
  else n >= 1 && n <= 600 && s.[0] >= '1' && s.[0] <= '9' && all_digits s 1 n

let is_integer s =
  s = "0" || is_plus s || (String.length s > 1 && s.[0] = '-' && is_plus (String.sub s 1 (String.length s - 1)))

(* -?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})? *)
let is_plain_number s =
  let n = String.length s in
  let rec run i = if i < n && is_digit s.[i] then run (i + 1) else i in
  let a = if n > 0 && s.[0] = '-' then 1 else 0 in
  let b = run a in
  if b = a || b - a > 400 then false
  else
    let c = if b < n && s.[b] = '.' then run (b + 1) else b in
    if c = b + 1 || c - b > 401 then false
    else if c = n then true
    else if s.[c] <> 'e' then false
    else
      let d = if c + 1 < n && (s.[c + 1] = '+' || s.[c + 1] = '-') then c + 2 else c + 1 in
      let e = run d in
      e = n && e > d && e - d <= 4

let after prefix s =
  let n = String.length prefix in
  if String.length s >= n && String.sub s 0 n = prefix then Some (String.sub s n (String.length s - n)) else None

let is_written_label s =
  let holds prefix f = match after prefix s with Some rest -> f rest | None -> false in
  holds "text:" (fun _ -> true) || holds "integer:" is_integer || holds "number:" is_plain_number
  || holds "boolean:" (fun w -> w = "true" || w = "false")

let text f = function Text s -> f s | _ -> false
let list f = function List l -> List.for_all f l | _ -> false
let split s = String.split_on_char ' ' s
let spaced f = text (fun s -> List.for_all f (split s))
let optional f = function Null -> true | v -> f v
let real = function Number x -> 0. <= x && x < infinity | _ -> false
let boolean = function Bool _ -> true | _ -> false
let any_text = text (fun _ -> true)
let one_of words = text (fun s -> List.mem s words)

let fields forms = function
  | Object l ->
      List.length l = List.length forms
      && List.for_all (fun (name, form) -> match List.assoc_opt name l with Some v -> form v | None -> false) forms
  | _ -> false

let count = text is_count
let integer = text is_integer
let rows = fields [ ("rows", list count); ("weights", list integer) ]
let separator = ("separator", fields [ ("weights", list integer); ("bias_weight", integer) ])
let ends = [ ("low", real); ("high", optional real) ]
let dependences = ("dependences", list (fields [ ("columns", list count); ("weights", list integer) ]))
let definite = ("definite", fields [ ("rows", list count); ("weights", list integer); dependences ])
let short = ("definite", fields [ ("steps", spaced is_count); ("weights", spaced is_integer); dependences ])
let separated = ("separated_rows", optional (list count))
let reason = ("reason", any_text)

let is_unit = text (fun s -> match String.split_on_char '/' s with [ a; b ] -> is_plus a && is_plus b | _ -> false)
let leaf = fields [ ("rows", list count); ("right", list boolean); ("obstructions", list count); ("units", list integer) ]

let bound =
  [ separator; ("costs", optional (list integer)); ("unit", is_unit); ("least", text (fun s -> s = "0" || is_plus s));
    ("copies", list (list count)); ("mistaken_rows", list count); ("obstructions", list rows); ("leaves", list leaf) ]

let rec forms_of version kind =
  match (version, kind) with
  | "4", "mistakes" -> Some bound
  | "5", "mistakes" -> Some (("definite_obstructions", list (snd short)) :: bound)
  | "6", "classes" -> Some [ ("by", one_of [ "joint"; "pairs"; "rest" ]); ("sizes", list count); ("answers", list is_answer) ]
  | "3", "touching" -> Some [ separator; short; separated ]
  | "3", "overlapping" -> Some [ short ]
  | "3", "not-separable" -> Some [ short; reason ]
  | "2", "touching" -> Some [ separator; definite; separated ]
  | "2", "overlapping" -> Some [ definite ]
  | ("2" | "3" | "4" | "5" | "6"), _ -> None
  | _, "separable" -> Some [ separator; ("margin", optional (fields (ends @ [ ("nearest", optional rows) ]))) ]
  | _, "touching" -> Some [ separator; ("obstruction", rows); separated; ("spread", optional rows) ]
  | _, "overlapping" -> Some [ ("obstruction", rows); ("spread", rows) ]
  | _, "not-separable" -> Some [ ("obstruction", rows); reason ]
  | _, "undecided" -> Some [ reason; ("margin", fields ends) ]
  | _ -> None

(* An answer about many classes: a claim of version 1, or one of version 3. *)
and is_answer v =
  match v with
  | Object l -> (
      let version = if List.mem_assoc "definite" l then "3" else "1" in
      match List.assoc_opt "kind" l with
      | Some (Text kind) -> (
          match forms_of version kind with Some forms -> fields (("kind", fun _ -> true) :: forms) v | None -> false)
      | _ -> false)
  | _ -> false

let is_sha256 = text (fun s -> String.length s = 64 && String.for_all is_hex s)

let data_form =
  fields
    [ ("rows", count); ("columns", count); ("rows_left_out", count); ("numbers", one_of [ "binary64"; "exact-integers"; "decimal" ]);
      ("bias", boolean); ("labels", list (text is_written_label)); ("names", optional (list any_text)); ("label_column", optional any_text) ]

let frame =
  [ ("format", one_of [ "linsep-proof" ]); ("version", one_of [ "1"; "2"; "3"; "4"; "5"; "6" ]); ("sha256", is_sha256); ("data", data_form);
    ("effort", fields [ ("reads", count); ("seconds", real) ]) ]

(* The parts of a value that has its form. *)
let field name = function Object l -> (match List.assoc_opt name l with Some v -> v | None -> Null) | _ -> Null
let string = function Text s -> s | _ -> assert false
let is_true = function Bool b -> b | _ -> false
let listed = function List l -> l | _ -> []
let strings v = List.map string (listed v)
let float_in = function Number x -> x | _ -> assert false

let z s =
  if String.contains s 'x' then
    let minus = s.[0] = '-' in
    let from = if minus then 3 else 2 in
    let v = Z.of_string_base 16 (String.sub s from (String.length s - from)) in
    if minus then Z.neg v else v
  else Z.of_string_base 10 s

let zs v = List.map z (strings v)
let written v = (zs (field "rows" v), zs (field "weights" v))

let label_of s =
  let i = String.index s ':' in
  let word = String.sub s (i + 1) (String.length s - i - 1) in
  match String.sub s 0 i with
  | "text" -> Word word
  | "integer" -> Whole (z word)
  | "number" -> Real (float_of_string word)
  | _ -> Truth (word = "true")

let shown s =
  let i = String.index s ':' in
  let word = String.sub s (i + 1) (String.length s - i - 1) in
  Text.cut 60 (if String.sub s 0 i = "text" then Text.ascii word else word)

let missing =
  [ "#N/A"; "#N/A N/A"; "#NA"; "-1.#IND"; "-1.#QNAN"; "-NaN"; "-nan"; "1.#IND"; "1.#QNAN"; "N/A"; "NA"; "NULL"; ""; "NaN"; "n/a"; "nan"; "null" ]

let is_sealed content =
  let n = String.length content and tail = 13 + 64 in
  n >= tail + 4 && String.sub content (n - 4) 4 = "\"\n}\n" &&
  (let start = n - 4 - 64 - 11 in
   start >= 0 && String.sub content start 11 = "\"sha256\": \"" &&
   Sha256.hex (String.sub content 0 start) = String.sub content (start + 11) 64)

type proof = { whole : Json.t; kind : string; data : Json.t; classes : label list }

(* One claim: its fields, its kind, and whether it is about joint scores. *)
type part = { claim : Json.t; part_kind : string; joint : bool }

let is_definite part = field "definite" part.claim <> Null

(* The proof itself; or one part for each answer about many classes. *)
let parts_of proof =
  if proof.kind <> "classes" then [ { claim = proof.whole; part_kind = proof.kind; joint = false } ]
  else begin
    let k = List.length proof.classes and by = string (field "by" proof.whole) in
    let asked = match by with "joint" -> 1 | "rest" -> k | _ -> k * (k - 1) / 2 in
    let answers = listed (field "answers" proof.whole) in
    need (List.length answers = asked) (lazy (Printf.sprintf "the proof has not one answer to each of %d questions" asked));
    need (List.length (listed (field "sizes" proof.whole)) = k) (lazy "the proof does not say how many rows each class has");
    List.map (fun claim -> { claim; part_kind = string (field "kind" claim); joint = by = "joint" }) answers
  end

let read_file ?(most = max_int) path =
  let file = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in file) (fun () -> really_input_string file (min most (in_channel_length file)))

(* The fields of one claim fit together. *)
let require_whole proof part =
  let numbers = string (field "numbers" proof.data) and bias = is_true (field "bias" proof.data) in
  let separator = field "separator" part.claim and margin = field "margin" part.claim in
  if separator <> Null then begin
    let columns = z (string (field "columns" proof.data)) in
    let block = if bias then Z.succ columns else columns in
    let width = if part.joint then Z.mul block (Z.of_int (List.length proof.classes)) else columns in
    need (Z.equal (Z.of_int (List.length (listed (field "weights" separator)))) width
          && ((bias && not part.joint) || field "bias_weight" separator = Text "0"))
      (lazy "the separator does not fit the columns and the bias")
  end;
  if margin <> Null && separator <> Null then begin
    need (numbers <> "decimal") (lazy "a margin is proved for binary64, not for exact decimals");
    need ((field "high" margin = Null) = (field "nearest" margin = Null)) (lazy "the margin's high end lacks its proof");
    need (List.exists (fun v -> v <> Text "0") (listed (field "weights" separator))) (lazy "a margin needs weights that are not all 0")
  end;
  (match field "unit" part.claim with
   | Text unit ->
     let gcd = List.fold_left Z.gcd Z.zero (List.map z (String.split_on_char '/' unit)) in
     need (Z.equal gcd Z.one) (lazy "the unit is not in lowest terms")
   | _ -> ());
  let plain = (not (is_definite part)) && part.part_kind <> "mistakes" in
  need (plain || numbers <> "decimal") (lazy "versions 2 to 6 are about binary64, not about decimals");
  need (not (plain && part.part_kind = "touching" && (field "separated_rows" part.claim = Null) <> (field "spread" part.claim = Null)))
    (lazy "separated rows and the spread that proves them come together");
  need (field "definite_obstructions" part.claim <> List []) (lazy "version 5 has positive-definite obstructions")

let read_proof path =
  let content = read_file ~most:(1 lsl 28) path in
  Text.validate ~surrogates:true content;
  let whole = Json.parse (Text.without_bom content) in
  let kind = match field "kind" whole with Text s -> s | _ -> "" in
  let version = match field "version" whole with Text s -> s | _ -> "1" in
  let forms = forms_of version kind in
  need (forms <> None) (lazy ("a proof of its version cannot have the kind " ^ Text.cut 40 (Text.ascii kind)));
  let forms = (("kind", fun _ -> true) :: frame) @ Option.get forms in
  need (fields forms whole) (lazy "fields of the proof are unknown, missing or malformed");
  need (is_sealed content) (lazy "the proof does not end in its checksum: it was damaged, edited or reformatted");
  let data = field "data" whole in
  let classes = List.map label_of (strings (field "labels" data)) in
  let is_finite = function Real x -> Float.abs x < infinity | _ -> true in
  let rec all_differ same = function [] -> true | a :: rest -> (not (List.exists (same a) rest)) && all_differ same rest in
  let k = List.length classes in
  let enough = k = 2 || (kind = "classes" && k > 2) in
  need (enough && List.for_all is_finite classes && all_differ same_label classes) (lazy "the proof needs two different labels");
  let is_missing = function Word s -> List.mem (Text.strip s) missing | _ -> false in
  need (not (List.exists is_missing classes)) (lazy "a missing label is not a class");
  let texts = List.filter is_number classes in
  let exact = function Word s -> canonical (Option.get (numeral s)) | _ -> assert false in
  let alike =
    (not (all_differ ( = ) (List.map exact texts)))
    || (texts <> [] && List.exists (function Whole _ | Real _ -> true | _ -> false) classes) in
  need (not alike) (lazy "a label of the proof is a number written as text: the file does not tell it from the other");
  let names = field "names" data in
  need (names = Null || Z.equal (Z.of_int (List.length (listed names))) (z (string (field "columns" data))))
    (lazy "the proof does not name every column");
  let proof = { whole; kind; data; classes } in
  List.iter (require_whole proof) (parts_of proof);
  proof

let require_agreement proof o =
  let bias = is_true (field "bias" proof.data) and numbers = string (field "numbers" proof.data) in
  let said = if bias then "the proof is with bias: --no-bias" else "the proof is through the origin (no bias): --bias" in
  need (o.bias = None || o.bias = Some bias) (lazy (said ^ " disagrees"));
  (match o.numbers with
  | None -> ()
  | Some n ->
      need (n = if numbers = "decimal" then "decimal" else "binary64")
        (lazy (Printf.sprintf "the proof reads numbers as %s: --numbers %s disagrees" numbers n)));
  match o.positive with
  | None -> ()
  | Some p ->
      let is_many = proof.kind = "classes" in
      need ((not is_many) && is_label p (List.nth proof.classes 1))
        (lazy (Printf.sprintf "the positive class of the proof is %s: --positive %s disagrees"
                 (if is_many then "none of many" else shown (List.nth (strings (field "labels" proof.data)) 1)) (Text.cut 60 (Text.ascii p))))

(* 3. The rows. *)
type layout = { width : int; place : int; column : string option; names : string list option }

let without place l = List.filteri (fun k _ -> k <> place) l
let are_values first place = List.for_all is_value (without place first)

let is_position s =
  let n = String.length s in
  let a = if n > 0 && s.[0] = '-' then 1 else 0 in
  n > a && n - a <= 9 && all_digits s a n

let repr_list l = "[" ^ String.concat ", " (List.map Text.ascii l) ^ "]"
let repr_option f = function None -> "None" | Some x -> f x

let find_layout proof o path content =
  let first = match Csv.next (Csv.read content) with Some l -> l | None -> [ "" ] in
  ignore path;
  let stated = match field "label_column" proof.data with Text s -> Some s | _ -> None in
  let stated_names = match field "names" proof.data with List l -> Some (List.map string l) | _ -> None in
  let wanted = if o.label = None then stated else o.label in
  let by_position = wanted = None || (o.label <> None && is_position (Option.get wanted)) in
  let is_header = o.header || (o.label <> None && not by_position) in
  let found = List.filter (fun k -> Some (List.nth first k) = wanted) (List.init (List.length first) Fun.id) in
  let found =
    if by_position && not (found <> [] && (is_header || not (are_values first (List.hd found)))) then begin
      let position = match wanted with None -> -1 | Some s -> int_of_string s in
      let n = List.length first in
      need (-n <= position && position < n) (lazy (Printf.sprintf "the file has no column %d: it has %d" position n));
      [ (position + n) mod n ]
    end
    else found in
  need (List.length found = 1)
    (lazy (Printf.sprintf "the first line of the file does not name the label column %s once" (Text.cut 40 (repr_option Text.ascii wanted))));
  let place = List.hd found and width = List.length first in
  if (not is_header) && are_values first place then begin
    let named = (match stated with Some s -> [ Text.ascii s ] | None -> []) @ match stated_names with Some l -> [ repr_list l ] | None -> [] in
    need (named = [])
      (lazy (Printf.sprintf "the proof names columns (%s), but the first line of the file holds values and is read as a row: if it is a header, say --header"
               (Text.cut 60 ("[" ^ String.concat ", " named ^ "]"))));
    { width; place; column = None; names = None }
  end
  else begin
    let column = List.nth first place and names = without place first in
    need (List.length (List.sort_uniq compare first) = width) (lazy "two columns of the file have the same name");
    let agree what read stated =
      lazy (Printf.sprintf "the %s %s, but in the proof %s" what (Text.cut 200 read) (Text.cut 200 stated)) in
    need (stated = None || stated = Some column) (agree "label column is" (Text.ascii column) (repr_option Text.ascii stated));
    need (stated_names = None || stated_names = Some names) (agree "columns are" (repr_list names) (repr_option repr_list stated_names));
    { width; place; column = Some column; names = Some names }
  end

let bits_of_double x = Z.extract (Z.of_int64 (Int64.bits_of_float x)) 0 64

(* The value p/2^k, by the verified decoding of a double. *)
let dyadic = function
  | Integer v -> (v, Z.zero)
  | Double x -> Option.get (Verified.decode (bits_of_double x))

let beyond = Z.pow (Z.of_int 2) 53

(* The rows so far, with their numbers, the last first, and why there are no more, if that is not the end of the file. *)
let read_rows proof layout content kept =
  let data = proof.data in
  let numbers = string (field "numbers" data) in
  let numbered = List.mapi (fun k known -> (k, known)) proof.classes in
  let file = Csv.read content and found = ref [] and seen = ref 0 and is_large = ref false in
  let take line =
    let i = !seen in
    let n = List.length line in
    need (n = layout.width) (lazy (Printf.sprintf "row %d has %d fields, not %d" i n layout.width));
    let label = List.nth line layout.place in
    let own = List.filter_map (fun (k, known) -> if is_label label known then Some k else None) numbered in
    need ~status:refuted (List.length own = 1)
      (lazy (Printf.sprintf "row %d has the label %s, unknown to the proof" i (Text.cut 40 (Text.ascii label))));
    let values =
      List.mapi
        (fun k cell ->
          try
            let v = read_number cell numbers in
            (match v with
            | Integer v -> if Z.gt (Z.abs v) beyond then is_large := true
            | Double x -> if Float.abs x > 9007199254740992. then is_large := true);
            dyadic v
          with Stop (why, _) -> raise (Stop (Printf.sprintf "row %d, column %d: %s" i k why, bad_input)))
        (without layout.place line) in
    found := (Z.of_int i, kept (List.hd own) values) :: !found;
    incr seen in
  let stop =
    try
      need ~status:refuted (Z.equal (Z.of_int (layout.width - 1)) (z (string (field "columns" data))))
        (lazy (Printf.sprintf "the file has %d columns to classify by" (layout.width - 1)));
      if layout.names <> None then ignore (Csv.next file);
      let rec all () = match Csv.next file with Some line -> take line; all () | None -> () in
      all ();
      let rows = string (field "rows" data) in
      need ~status:refuted (string_of_int !seen = rows) (lazy (Printf.sprintf "the file has %d rows, not %s" !seen rows));
      need (!seen > 0) (lazy "the file has no rows");
      need ~status:refuted (numbers <> "exact-integers" || !is_large) (lazy "the proof has exact-integers, but no integer is beyond 2^53");
      need ~status:refuted (field "rows_left_out" data = Text "0") (lazy "no row was left out, but the proof says that some were");
      None
    with (Stop _ | Csv.Error _ | Text.Bad_utf8 _) as e -> Some e in
  (!found, stop)

(* 4. The claim. *)
let claim_of part =
  let get name = field name part.claim in
  let separator = get "separator" in
  let w () = zs (field "weights" separator) and b () = z (string (field "bias_weight" separator)) in
  let end_of v = dyadic (Double (float_in v)) in
  let definite d =
    let rows =
      match field "steps" d with
      | Text steps ->
          let _, rows = List.fold_left (fun (at, found) s -> let at = Z.add at (z s) in (at, at :: found)) (Z.zero, []) (split steps) in
          (List.rev rows, List.map z (split (string (field "weights" d))))
      | _ -> written d in
    let dependence v = (zs (field "columns" v), zs (field "weights" v)) in
    { Verified.definite_of = rows; dependences = List.map dependence (listed (field "dependences" d)) } in
  let separated () = match get "separated_rows" with Null -> None | v -> Some (zs v) in
  match (is_definite part, part.part_kind) with
  | false, "separable" ->
      let margin = match get "margin" with
        | Null -> None
        | m ->
            let high = match field "high" m with Null -> None | h -> Some (end_of h, written (field "nearest" m)) in
            Some { Verified.low = end_of (field "low" m); high } in
      Verified.Separable (w (), b (), margin)
  | false, "touching" ->
      let spread = match separated () with None -> None | Some s -> Some (s, written (get "spread")) in
      Verified.Touching (w (), b (), written (get "obstruction"), spread)
  | false, "overlapping" -> Verified.Overlapping (written (get "obstruction"), written (get "spread"))
  | false, "not-separable" -> Verified.NotSeparable (written (get "obstruction"))
  | true, "touching" -> Verified.DefiniteTouching (w (), b (), definite (get "definite"), separated ())
  | true, "overlapping" -> Verified.DefiniteOverlapping (definite (get "definite"))
  | true, "not-separable" -> Verified.DefiniteNotSeparable (definite (get "definite"))
  | false, "mistakes" ->
      let leaf v =
        { Verified.case_rows = zs (field "rows" v); case_right = List.map is_true (listed (field "right" v));
          case_obstructions = zs (field "obstructions" v); case_units = zs (field "units" v) } in
      Verified.FewestMistakes (w (), b (),
        { Verified.costs = (match get "costs" with Null -> None | v -> Some (zs v)); unit_is_1 = get "unit" = Text "1/1";
          least = z (string (get "least")); copies = List.map zs (listed (get "copies")); mistaken_rows = zs (get "mistaken_rows");
          obstructions = List.map written (listed (get "obstructions"));
          definite_obstructions = List.map definite (listed (get "definite_obstructions")); leaves = List.map leaf (listed (get "leaves")) })
  | _ -> raise (Stop ("proofs of this kind and version are not supported", bad_input))

let words complaint =
  let row i = "row " ^ Z.to_string i in
  match (complaint : Verified.complaint) with
  | WrongSide i -> row i ^ " is not on its side of the hyperplane"
  | TooNear i -> row i ^ " is nearer than the margin"
  | AllOnPlane -> "every row lies on the hyperplane"
  | NoSuchRow i -> row i ^ " does not exist"
  | NotCancelling i -> row i ^ " and the rest do not cancel"
  | OneClass -> "the nearest rows are all of one class"
  | NotNearest i -> row i ^ " and the other nearest rows do not prove the margin's high end"
  | OtherSeparated -> "other rows are separated"
  | NotSpanned i -> row i ^ " is not in the span of the spread"
  | DependenceFails i -> row i ^ ": a dependence of columns does not hold"
  | AllZero -> "the rows of the obstruction are 0 in every column"
  | NotDefinite i -> row i ^ " and the rest are not proved to be an obstruction"
  | OtherMistakes -> "other rows are mistaken"
  | UnequalCopies i -> row i ^ " and its copies are not equal"
  | NoTree -> "the cases are not those of a tree"
  | MistakenRow -> "a case counts an obstruction with a mistaken row"
  | OverCost -> "the obstructions of a row count for more than its cost"
  | NotProved -> "the obstructions do not prove the bound"
  | BadCombination -> "a combination is malformed"
  | BadWeight -> "a combination has a weight that is not positive"
  | BadDependence -> "a dependence is malformed"
  | BadColumn -> "a dependence has an unknown column or a weight of 0"
  | OwnColumn -> "a dependence has the own column of one before it"
  | BadCosts -> "the proof does not say what each row costs"
  | BadCopies -> "a row is a copy of one other"
  | BadUnit -> "where every mistake costs 1, the unit is 1"
  | NamesCopy -> "an obstruction names a copy, or no row"
  | BadCase -> "a case names a copy, no row, or a row twice"
  | BadCaseObstruction -> "a case names no obstruction"
  | OtherSizes -> "the classes have other numbers of rows than the proof says"
  | UnevenLists -> "the proof or the data cannot be read: two lists of a case differ in length"
  | Unsupported -> "this is not supported"

let require = function
  | Verified.Fine () -> ()
  | Verified.Refuted c -> raise (Stop (words c, refuted))
  | Verified.Bad c -> raise (Stop (words c, bad_input))

let check_two proof frame (read : (int -> (Z.t * Z.t) list -> Verified.row) -> (Z.t * Verified.row) list * exn option) =
  let claim = claim_of (List.hd (parts_of proof)) in
  let row own values = Verified.signed_row frame.Verified.with_bias frame.one { Verified.is_positive = own = 1; values } in
  match read row with
  | found, Some e -> require (Verified.check_first frame claim (List.rev found)); raise e
  | found, None -> require (Verified.check Hints.null Hints.factor frame claim (List.rev found))

let check_many proof frame (read : (int -> (Z.t * Z.t) list -> Verified.member) -> (Z.t * Verified.member) list * exn option) =
  let claims = List.map (fun part -> if part.part_kind = "undecided" then None else Some (claim_of part)) (parts_of proof) in
  let by = match field "by" proof.whole with Text "joint" -> Verified.Jointly | Text "rest" -> ByRest | _ -> ByPairs in
  let member own values = { Verified.class_of = own; values_of = values } in
  match read member with
  | _, Some e -> raise e
  | found, None ->
      let k = List.length proof.classes and sizes = zs (field "sizes" proof.whole) in
      require (Verified.check_classes Hints.null Hints.factor frame k sizes (List.rev found) by claims)

let check proof layout content =
  let one = if field "numbers" proof.data = Text "decimal" then tens else Z.one in
  let frame = { Verified.with_bias = is_true (field "bias" proof.data); one; columns = layout.width - 1; spare = 0 } in
  if proof.kind = "classes" then check_many proof frame (read_rows proof layout content)
  else check_two proof frame (read_rows proof layout content)

(* 5. The answer. *)
let describe proof layout path =
  let data = proof.data in
  let rows = string (field "rows" data) and labels = strings (field "labels" data) in
  let origin = if is_true (field "bias" data) then "" else " through the origin (no bias)" in
  let column = match layout.column with None -> string_of_int layout.place | Some name -> Text.cut 60 (Text.ascii name) in
  let header = if layout.names = None then "the first line is a row, not a header" else "below a header line" in
  let named = match layout.names with
    | Some names when List.length names <= 20 -> ": " ^ Text.cut 300 (String.concat ", " (List.map Text.ascii names))
    | _ -> "" in
  let title = match proof.kind with
    | "separable" -> "complete separation"
    | "touching" -> "quasi-complete separation"
    | "overlapping" -> "overlap"
    | "mistakes" ->
        let costs = match field "costs" proof.whole with Null -> None | v -> Some (Array.of_list (zs v)) in
        let mistaken = zs (field "mistaken_rows" proof.whole) in
        let cost i = match costs with None -> Z.one | Some c -> c.(Z.to_int i) in
        let spent = List.fold_left (fun s i -> Z.add s (cost i)) Z.zero mistaken in
        Printf.sprintf "at most %s, at least %s%s" (Z.to_string spent) (string (field "least" proof.whole))
          (match costs with None -> "" | Some _ -> Printf.sprintf ", times %s, with the costs of the proof" (string (field "unit" proof.whole)))
    | "classes" ->
        let kinds = List.map (fun part -> part.part_kind) (parts_of proof) in
        let each = List.filteri (fun i k -> not (List.mem k (List.filteri (fun j _ -> j < i) kinds))) kinds in
        let told k = Printf.sprintf "%d %s" (List.length (List.filter (( = ) k) kinds)) k in
        string (field "by" proof.whole) ^ ": " ^ String.concat ", " (List.map told each)
    | _ -> "touching or overlapping not known" in
  let said =
    if proof.kind <> "classes" then Printf.sprintf "%s is the positive class, %s the negative" (shown (List.nth labels 1)) (shown (List.nth labels 0))
    else
      let k = List.length labels in
      let about = match field "by" proof.whole with
        | Text "joint" -> []
        | Text "rest" -> List.map shown labels
        | _ -> List.concat (List.init k (fun i -> List.init (k - i - 1) (fun j -> shown (List.nth labels i) ^ " and " ^ shown (List.nth labels (i + j + 1))))) in
      let answer a part = Printf.sprintf "\nanswer   %s: %s" a part.part_kind in
      String.concat ", " (List.map shown labels) ^ (if about = [] then "" else String.concat "" (List.map2 answer about (parts_of proof))) in
  Printf.sprintf "%s (%s)%s: %s rows of %s, label column %s\nlabels   %s\nrows     %s, %s\ncolumns  %s%s\nnumbers  read as %s"
    proof.kind title origin rows (Text.ascii path) column said rows header
    (string (field "columns" data)) named (string (field "numbers" data))

let facts proof layout =
  let option f = function None -> Null | Some x -> f x in
  let names = option (fun l -> List (List.map (fun s -> Text s) l)) layout.names in
  let data = match proof.data with
    | Object l ->
        Object (List.map (fun (k, v) ->
            if k = "names" then (k, names) else if k = "label_column" then (k, option (fun s -> Text s) layout.column) else (k, v)) l)
    | v -> v in
  [ ("kind", Text proof.kind); ("header", Bool (layout.names <> None)); ("data", data) ]

let answer o proof_path data_path =
  try
    let proof = read_proof proof_path in
    require_agreement proof o;
    let parts = parts_of proof in
    need ~status:undecided (List.exists (fun part -> part.part_kind <> "undecided") parts)
      (lazy ("no proof; the reason: " ^ Text.cut 200 (Text.ascii (string (field "reason" (List.hd parts).claim)))));
    need (Sys.file_exists data_path) (lazy ("there is no file " ^ Text.ascii data_path));
    let is_file = (Unix.stat data_path).st_kind = Unix.S_REG in
    need is_file (lazy "the data must be a file on the disk: it is read twice, so a pipe will not do");
    let content = read_file data_path in
    let layout = find_layout proof o data_path content in
    check proof layout content;
    (describe proof layout data_path, 0, facts proof layout)
  with
  | Stop (why, status) -> (why, status, [])
  | Sys_error why -> (why, bad_input, [])
  | Json.Error why | Csv.Error why -> ("the proof or the data cannot be read: " ^ Text.cut 200 (Text.ascii why), bad_input, [])
  | Text.Bad_utf8 _ -> ("the proof or the data cannot be read: it is not UTF-8", bad_input, [])
  | Stack_overflow | Out_of_memory | Z.Overflow | Unix.Unix_error _ | End_of_file -> ("the proof or the data cannot be read", bad_input, [])

(* Writing the answer into the proof or the rows would change what was checked. *)
let is_spared named stream =
  match Unix.fstat stream with
  | exception Unix.Unix_error _ -> true
  | s -> not (List.exists (fun (f : Unix.stats) -> f.st_dev = s.st_dev && f.st_ino = s.st_ino) named)

let told arguments =
  let o, proof_path, data_path = options_of arguments in
  let words, status, facts = answer o proof_path data_path in
  let first = List.hd (String.split_on_char '\n' words) in
  let text =
    if o.json then Json.print (Object ([ ("answer", Text (String.lowercase_ascii verdicts.(status))); ("message", Text first) ] @ facts))
    else verdicts.(status) ^ (if status = 0 then " " else ": ") ^ words in
  (text, status)

(* For campaigns: a line of arguments with tabs between them, a line with the status and the answer as a JSON text, and so on. *)
let batch () =
  try
    while true do
      let text, status = told (String.split_on_char '\t' (input_line stdin)) in
      Printf.printf "%d %s\n%!" status (Json.quoted text)
    done
  with End_of_file -> exit 0

let () =
  (* Long integers come and go: less often looking for dead ones halves the time. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 22; space_overhead = 400; custom_major_ratio = 1000; custom_minor_ratio = 1000 };
  let given = List.tl (Array.to_list Sys.argv) in
  let named = List.filter_map (fun w -> match Unix.stat w with s when s.st_kind = Unix.S_REG -> Some s | _ -> None | exception Unix.Unix_error _ -> None) given in
  let streams = [ Unix.stdout; Unix.stderr ] in
  let spared = List.filter (is_spared named) streams in
  if List.length spared < 2 then begin
    let line = Bytes.of_string "BAD INPUT: the output goes into a file that is read\n" in
    List.iter (fun stream -> ignore (Unix.write stream line 0 (Bytes.length line))) spared;
    exit bad_input
  end;
  if given = [ "--batch" ] then batch ();
  let text, status = told given in
  print_endline text;
  exit status
