(** The checker in OCaml. Integers become Zarith's, as checker/big.ml has them, and natural numbers become OCaml's. *)

From Coq Require Import ZArith List Arith Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From Linsep Require Import Rows Spread PositiveDefinite Tables Mistakes Checker Classes Doubles Packed.

Extract Inductive positive => "Big.t" [ "Big.double_plus_1" "Big.double" "Big.one" ] "Big.match_positive".
Extract Inductive Z => "Big.t" [ "Big.zero" "" "Big.opp" ] "Big.match_z".

Extract Inlined Constant Z.add => "Big.add".
Extract Inlined Constant Z.sub => "Big.sub".
Extract Inlined Constant Z.mul => "Big.mul".
Extract Inlined Constant Z.opp => "Big.opp".
Extract Inlined Constant Z.abs => "Big.abs".
Extract Inlined Constant Z.min => "Big.min".
Extract Inlined Constant Z.max => "Big.max".
Extract Inlined Constant Z.succ => "Big.succ".
Extract Inlined Constant Z.eqb => "Big.equal".
Extract Inlined Constant Z.leb => "Big.le".
Extract Inlined Constant Z.ltb => "Big.lt".
Extract Inlined Constant Z.gcd => "Big.gcd".
Extract Inlined Constant Z.even => "Big.is_even".
Extract Inlined Constant Z.div => "Big.div".
Extract Inlined Constant Z.modulo => "Big.modulo".
Extract Inlined Constant Z.div2 => "Big.div2".
Extract Inlined Constant Z.sqrt => "Big.sqrt".
Extract Inlined Constant Z.log2 => "Big.log2".
Extract Inlined Constant Z.shiftl => "Big.shiftl".
Extract Inlined Constant Z.shiftr => "Big.shiftr".
Extract Inlined Constant Z.of_nat => "Big.of_nat".
Extract Inlined Constant Z.to_nat => "Big.to_nat".
Extract Inlined Constant Z.to_pos => "Big.to_pos".

(* The bits of a number from one place to another. *)
Extract Inlined Constant digit => "Big.digit".

(* These two do not run out of stack on long tables. *)
Extract Inlined Constant length => "List.length".
Extract Inlined Constant map => "(fun f l -> List.rev (List.rev_map f l))".

Extraction "verified.ml" decode signed_row check_first check check_classes.
