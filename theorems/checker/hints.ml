(* Where dependences and factors come from: nobody need believe these. *)

(* A basis of {v : row·v = 0 for every row}, by elimination without fractions (Bareiss 1968). *)
let null (rows : Z.t list list) : Verified.dependence list =
  let m = Array.of_list (List.map Array.of_list rows) in
  let n = Array.length m in
  let width = if n = 0 then 0 else Array.length m.(0) in
  let pivots = ref [] and last = ref Z.one and top = ref 0 in
  for column = 0 to width - 1 do
    let k = ref !top in
    while !k < n && Z.equal m.(!k).(column) Z.zero do incr k done;
    if !k < n then begin
      let lead = m.(!k) in
      m.(!k) <- m.(!top);
      m.(!top) <- lead;
      let pivot = lead.(column) in
      for i = 0 to n - 1 do
        if i <> !top then begin
          let c = m.(i).(column) in
          m.(i) <- Array.mapi (fun j a -> Z.divexact (Z.sub (Z.mul pivot a) (Z.mul c lead.(j))) !last) m.(i)
        end
      done;
      last := pivot;
      pivots := (column, !top) :: !pivots;
      incr top
    end
  done;
  let row_of = !pivots in
  List.filter_map
    (fun f ->
      if List.mem_assoc f row_of then None
      else
        let entry j =
          match List.assoc_opt j row_of with
          | Some r -> Z.neg m.(r).(f)
          | None -> if j = f then !last else Z.zero in
        Some { Verified.own = f; form = List.init width entry })
    (List.init width Fun.id)

let fine = 56

(* To the nearest whole number, halves to the even one. *)
let round x =
  let r = Float.round x in
  if Float.abs (x -. Float.trunc x) = 0.5 && Float.rem r 2. <> 0. then Z.of_float (Float.trunc x) else Z.of_float r

(* Cholesky's factor of G - t·I, transposed, in floats and then in units of 2^-fine. *)
let factor (gram : Z.t list list) (t : Z.t) : Z.t list list option =
  let scaled v = Float.ldexp (Z.to_float v) (-2 * fine) in
  let g = Array.of_list (List.map (fun row -> Array.of_list (List.map scaled row)) gram) in
  let size = Array.length g in
  let lower = Array.make_matrix size size 0. in
  let sum a b count =
    let total = ref 0. in
    for i = 0 to count - 1 do total := !total +. (a.(i) *. b.(i)) done;
    !total in
  try
    for j = 0 to size - 1 do
      let row = lower.(j) in
      for k = 0 to j - 1 do
        row.(k) <- (g.(j).(k) -. sum row lower.(k) k) /. lower.(k).(k)
      done;
      let rest = g.(j).(j) -. scaled t -. sum row row j in
      if not (rest > 0.) then raise Exit;
      row.(j) <- Float.sqrt rest
    done;
    let entry k j = if k <= j then round (Float.ldexp lower.(j).(k) fine) else Z.zero in
    Some (List.init size (fun k -> List.init size (entry k)))
  with Exit -> None
