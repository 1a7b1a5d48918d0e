(** A finite binary64 is the number p/2^k that the checker takes it for.

    [decode] reads the 64 bits of a double, as a whole number: 1 of the sign, 11 of the exponent, 52 of the fraction. What it
    returns is exactly the real number that Flocq, the library of floating-point numbers, says these bits are. So what is
    proved about whole numbers and powers of two is true of the doubles of the file. *)

From Coq Require Import ZArith Reals Bool Lia Lra.
From Flocq Require Import Core.Core IEEE754.Binary IEEE754.Bits.
From Linsep Require Import Vectors Margin.
Open Scope Z_scope.

(** p/2^k in lowest terms; [fuel] is k. *)
Fixpoint lowest (fuel : nat) (p k : Z) : Z * Z :=
  match fuel with
  | O => (p, k)
  | S fuel' => if (0 <? k) && Z.even p then lowest fuel' (Z.div2 p) (k - 1) else (p, k)
  end.

(** p·2^e as a number p/2^k with k >= 0. *)
Definition dyadic_of (p e : Z) : Z * Z :=
  if p =? 0 then (0, 0) else if 0 <=? e then (Z.shiftl p e, 0) else lowest (Z.to_nat (- e)) p (- e).

Definition fractions : Z := 4503599627370496. (* 2^52 *)
Definition exponents : Z := 2048. (* 2^11 *)
Definition sign_bit : Z := 9223372036854775808. (* 2^63 *)

Definition decode (x : Z) : option (Z * Z) :=
  let fraction := x mod fractions in
  let exponent := (x / fractions) mod exponents in
  let sign := if sign_bit <=? x then -1 else 1 in
  if exponent =? 2047 then None
  else if exponent =? 0 then Some (dyadic_of (sign * fraction) (-1074))
  else Some (dyadic_of (sign * (fraction + fractions)) (exponent - 1075)).

Open Scope R_scope.

Lemma lowest_same fuel : forall p k, dyadic (lowest fuel p k) = dyadic (p, k).
Proof.
  induction fuel as [|fuel IH]; intros p k; simpl; auto.
  destruct ((0 <? k)%Z && Z.even p) eqn:E; auto. apply andb_true_iff in E as [_ E]. rewrite IH. unfold dyadic; simpl.
  apply Z.even_spec in E as [q ->]. rewrite Z.div2_div, Z.mul_comm, Z.div_mul by lia.
  rewrite mult_IZR. replace k with (k - 1 + 1)%Z at 2 by ring. rewrite two_plus.
  pose proof (two_pos (k - 1)). change (two 1) with (2 * 1). field; lra.
Qed.

Lemma dyadic_of_same p e : dyadic (dyadic_of p e) = IZR p * two e.
Proof.
  unfold dyadic_of. destruct (p =? 0)%Z eqn:Ep.
  - apply Z.eqb_eq in Ep. subst p. unfold dyadic; cbn [fst snd]. rewrite two_0. field.
  - destruct (0 <=? e)%Z eqn:Ee.
    + apply Z.leb_le in Ee. unfold dyadic; cbn [fst snd]. rewrite shiftl_two, two_0 by assumption. field.
    + rewrite lowest_same. unfold dyadic; cbn [fst snd]. replace (- e)%Z with (0 - e)%Z by ring.
      rewrite two_minus, two_0. field. pose proof (two_pos e). lra.
Qed.

Lemma F2R_two p e : F2R (Float radix2 p e) = IZR p * two e.
Proof.
  unfold F2R; simpl. f_equal. destruct (Z.le_gt_cases 0 e) as [H|H].
  - rewrite two_Z, <- IZR_Zpower by assumption. reflexivity.
  - replace e with (- - e)%Z by ring. rewrite bpow_opp. replace (two (- - e)) with (/ two (- e)).
    + rewrite two_Z, <- IZR_Zpower by lia. reflexivity.
    + replace (- - e)%Z with (0 - - e)%Z by ring. rewrite two_minus, two_0. field. pose proof (two_pos (- e)). lra.
Qed.

Theorem double x v : decode x = Some v ->
  is_finite 53 1024 (b64_of_bits x) = true /\ B2R 53 1024 (b64_of_bits x) = dyadic v.
Proof.
  unfold b64_of_bits, binary_float_of_bits. rewrite is_finite_FF2B, B2R_FF2B.
  unfold decode, binary_float_of_bits_aux, split_bits.
  change (2 ^ 52 * 2 ^ 11)%Z with sign_bit. change (2 ^ 11 - 1)%Z with 2047%Z.
  change (2 ^ 52)%Z with fractions. change (2 ^ 11)%Z with exponents.
  set (m := (x mod fractions)%Z). set (e := ((x / fractions) mod exponents)%Z).
  assert (Hm : (0 <= m)%Z) by (apply Z.mod_pos_bound; reflexivity).
  assert (Q : forall a b, Zeq_bool a b = (a =? b)%Z) by (intros; unfold Zeq_bool; symmetry; apply Z.eqb_compare).
  rewrite !Q. destruct (e =? 2047)%Z eqn:E1; [discriminate|].
  assert (S : forall p k, F2R (Float radix2 (cond_Zopp (sign_bit <=? x)%Z (Zpos p)) k)
                          = IZR ((if (sign_bit <=? x)%Z then -1 else 1) * Zpos p) * two k).
  { intros p k. rewrite F2R_two. destruct (sign_bit <=? x)%Z; reflexivity. }
  destruct (e =? 0)%Z; intros H; injection H as <-; rewrite dyadic_of_same.
  - destruct m as [|p|p]; [split; [reflexivity | rewrite Z.mul_0_r; simpl FF2R; ring] | | lia].
    split; [reflexivity | apply S].
  - assert (0 < fractions)%Z by reflexivity. destruct (m + fractions)%Z as [|p|p] eqn:Ep; try lia.
    split; [reflexivity|]. simpl FF2R. rewrite S. f_equal.
    f_equal. change (SpecFloat.emin 53 (Z.pow_pos 2 10)) with (-1074)%Z. ring.
Qed.
