(* SHA-256 (FIPS 180-4). *)

let primes count =
  let rec go found n =
    if List.length found = count then List.rev found
    else go (if List.exists (fun p -> n mod p = 0) found then found else n :: found) (n + 1)
  in
  go [] 2

(* The first 32 bits of the fractional part of a root of n. *)
let fraction root n =
  let scaled = Z.shift_left (Z.of_int n) (32 * root) in
  Z.to_int (Z.logand (Z.root scaled root) (Z.of_int 0xffffffff))

let k = Array.of_list (List.map (fraction 3) (primes 64))
let start = Array.of_list (List.map (fraction 2) (primes 8))
let rotate x n = ((x lsr n) lor (x lsl (32 - n))) land 0xffffffff

let hex text =
  let length = String.length text in
  let padding = (119 - (length mod 64)) mod 64 + 1 in
  let tail = Bytes.make (padding + 8) '\000' in
  Bytes.set tail 0 '\x80';
  Bytes.set_int64_be tail padding (Int64.of_int (8 * length));
  let message = text ^ Bytes.to_string tail in
  let h = Array.copy start and w = Array.make 64 0 in
  for block = 0 to (String.length message / 64) - 1 do
    for i = 0 to 15 do
      w.(i) <- Int32.to_int (String.get_int32_be message ((64 * block) + (4 * i))) land 0xffffffff
    done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      let s0 = rotate a 7 lxor rotate a 18 lxor (a lsr 3) and s1 = rotate b 17 lxor rotate b 19 lxor (b lsr 10) in
      w.(i) <- (w.(i - 16) + s0 + w.(i - 7) + s1) land 0xffffffff
    done;
    let v = Array.copy h in
    for i = 0 to 63 do
      let a = v.(0) and e = v.(4) in
      let s1 = rotate e 6 lxor rotate e 11 lxor rotate e 25 in
      let ch = e land v.(5) lxor (lnot e land v.(6)) in
      let t1 = v.(7) + s1 + ch + k.(i) + w.(i) in
      let s0 = rotate a 2 lxor rotate a 13 lxor rotate a 22 in
      let maj = a land v.(1) lxor (a land v.(2)) lxor (v.(1) land v.(2)) in
      Array.blit v 0 v 1 7;
      v.(4) <- (v.(4) + t1) land 0xffffffff;
      v.(0) <- (t1 + s0 + maj) land 0xffffffff
    done;
    Array.iteri (fun i x -> h.(i) <- (h.(i) + x) land 0xffffffff) v
  done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") h))
