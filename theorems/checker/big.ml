(* Coq's integers as Zarith's: the one place where their operations are matched up. Trusted, not proved. *)

type t = Z.t

let zero = Z.zero
let one = Z.one
let add = Z.add
let sub = Z.sub
let mul = Z.mul
let opp = Z.neg
let abs = Z.abs
let min = Z.min
let max = Z.max
let succ = Z.succ
let equal = Z.equal
let le = Z.leq
let lt = Z.lt
let gcd = Z.gcd
let is_even = Z.is_even

(* Rounded down. In Coq a/0 is 0, and a mod 0 is a. *)
let div a b = if Z.equal b Z.zero then Z.zero else Z.fdiv a b
let modulo a b = if Z.equal b Z.zero then a else Z.sub a (Z.mul b (Z.fdiv a b))
let div2 a = Z.shift_right a 1
let sqrt a = if Z.sign a <= 0 then Z.zero else Z.sqrt a
let log2 a = if Z.sign a <= 0 then Z.zero else Z.of_int (Z.numbits a - 1)

let shift_right a k = if k >= 0 then Z.shift_right a k else Z.shift_left a (-k)
let shiftl a k = shift_right a (- Z.to_int k)
let shiftr a k = shift_right a (Z.to_int k)

(* (v / 2^start) mod 2^count *)
let digit v start count = Z.extract v (Z.to_int start) (Z.to_int count)

(* Natural numbers are OCaml's: those here count rows and columns. *)
let of_nat = Z.of_int
let to_nat a = if Z.sign a <= 0 then 0 else Z.to_int a
let to_pos a = if Z.sign a <= 0 then Z.one else a

(* Patterns: 2p + 1, 2p, 1 for positive numbers; 0, p, -p for all. *)
let double p = Z.shift_left p 1
let double_plus_1 p = Z.succ (double p)

let match_positive odd even one p =
  if Z.equal p Z.one then one () else if Z.is_even p then even (Z.shift_right p 1) else odd (Z.shift_right p 1)

let match_z zero plus minus a =
  let s = Z.sign a in
  if s = 0 then zero () else if s > 0 then plus a else minus (Z.neg a)
