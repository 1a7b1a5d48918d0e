(** The rows of a file, as a checker has them: integers over a power of two, the sign of the class multiplied in.

    A point x of the file has a class and values p/2^k (with decimals, which are exact: p/2^k/10^38, [one] is 10^38 then,
    else 1). Its signed row z is y(x, 1) with a bias, yx without, times a positive number that clears all fractions.
    [score_signed_row] says that nothing is lost: the score z·(w, b) is that positive number times y(x·w + b). *)

From Coq Require Import ZArith Reals List Bool Lia Lra.
From Linsep Require Import Vectors.
Import ListNotations.
Open Scope R_scope.

(** The row is entries/2^shift. *)
Record row := Row { entries : list Z; shift : Z }.

Definition score (r : row) (w : list R) : R := dot (reals (entries r)) w / two (shift r).

(** A value (p, k) is p/2^k. *)
Record point := Point { is_positive : bool; values : list (Z * Z) }.

Definition number (one : Z) (v : Z * Z) : R := IZR (fst v) / two (snd v) / IZR one.

Definition sign (p : point) : Z := if is_positive p then 1 else -1.

(** y(x·w + b): positive where the point is strictly on its side of the hyperplane. *)
Definition side (one : Z) (p : point) (w : list R) (b : R) : R :=
  IZR (sign p) * (dot (map (number one) (values p)) w + b).

Definition clearing (p : point) : Z := fold_right Z.max 0%Z (map snd (values p)).

Definition signed_row (bias : bool) (one : Z) (p : point) : row :=
  let k := clearing p in
  let x := map (fun v => Z.shiftl (sign p * fst v) (k - snd v)) (values p) in
  Row (if bias then x ++ [Z.shiftl (sign p * one) k] else x) k.

(** The vector (w, b), or w where there is no bias. *)
Definition weights_of (bias : bool) (w : list R) (b : R) : list R := if bias then w ++ [b] else w.

Definition is_hyperplane (bias : bool) (d : nat) (w : list R) (b : R) : Prop :=
  length w = d /\ (bias = false -> b = 0).

Lemma max_le (l : list Z) v : In v l -> (v <= fold_right Z.max 0 l)%Z.
Proof. induction l; simpl; intros H; [tauto|]. destruct H as [->|H]; [lia|]. apply IHl in H; lia. Qed.

Lemma cleared (one k : Z) (y : Z) (l : list (Z * Z)) w :
  (0 < one)%Z -> (forall v, In v l -> (snd v <= k)%Z) ->
  dot (reals (map (fun v => Z.shiftl (y * fst v) (k - snd v)) l)) w
  = two k * IZR one * (IZR y * dot (map (number one) l) w).
Proof.
  intros H1 Hk. revert w; induction l as [|[p q] l IH]; intros [|x w]; simpl; try ring.
  rewrite IH by (intros; apply Hk; right; assumption).
  specialize (Hk (p, q) (or_introl eq_refl)); simpl in Hk.
  rewrite shiftl_two, mult_IZR, two_minus by lia. unfold number; simpl.
  apply IZR_lt in H1. pose proof (two_pos q). field; lra.
Qed.

Theorem score_signed_row bias one p w b :
  (0 < one)%Z -> is_hyperplane bias (length (values p)) w b ->
  score (signed_row bias one p) (weights_of bias w b) = IZR one * side one p w b.
Proof.
  intros H1 [Hl Hb]. pose proof (two_pos (clearing p)).
  assert (Hk : forall v, In v (values p) -> (snd v <= clearing p)%Z).
  { intros v Hv. apply max_le, in_map; assumption. }
  unfold score, signed_row, weights_of, side; destruct bias; simpl.
  - unfold reals; rewrite map_app, dot_app by (rewrite !map_length; congruence).
    fold (reals (map (fun v => Z.shiftl (sign p * fst v) (clearing p - snd v)) (values p))).
    rewrite (cleared one) by assumption. simpl. rewrite shiftl_two, mult_IZR.
    + field; lra.
    + unfold clearing. clear. induction (map snd (values p)); simpl; lia.
  - rewrite (cleared one), Hb by (assumption || reflexivity). field; lra.
Qed.

Lemma sides_agree bias one p w b :
  (0 < one)%Z -> is_hyperplane bias (length (values p)) w b ->
  (0 < score (signed_row bias one p) (weights_of bias w b) <-> 0 < side one p w b) /\
  (0 <= score (signed_row bias one p) (weights_of bias w b) <-> 0 <= side one p w b).
Proof. intros H1 Hw. rewrite score_signed_row by assumption. apply IZR_lt in H1. split; split; intros; nra. Qed.

(** Row number i, counted from 0. *)
Fixpoint find_row (t : list row) (i : Z) : option row :=
  match t with
  | [] => None
  | r :: t' => if (i =? 0)%Z then Some r else find_row t' (i - 1)
  end.

Lemma find_row_In t i r : find_row t i = Some r -> In r t.
Proof.
  revert i; induction t as [|a t IH]; simpl; intros i H; [discriminate|].
  destruct (i =? 0)%Z; [injection H; auto | eauto].
Qed.

(** A combination: rows with whole numbers, their weights. *)
Definition combination := list (Z * row).

Definition all_positive (l : combination) : bool := forallb (fun ur => (0 <? fst ur)%Z) l.

Definition top (l : combination) : Z := fold_right Z.max 0%Z (map (fun ur => shift (snd ur)) l).

(** Σ u z, times 2^top, in integers. *)
Definition add_up (l : combination) : list Z :=
  let t := top l in
  fold_right (fun ur => addZ (map (fun v => Z.shiftl (fst ur * v) (t - shift (snd ur))) (entries (snd ur)))) [] l.

(** Σ u (z·w). *)
Definition weighted (l : combination) (w : list R) : R := total (map (fun ur => IZR (fst ur) * score (snd ur) w) l).

Lemma shifted (u k : Z) (r : row) w :
  (shift r <= k)%Z ->
  dot (reals (map (fun v => Z.shiftl (u * v) (k - shift r)) (entries r))) w = two k * (IZR u * score r w).
Proof.
  intros H. unfold score. pose proof (two_pos (shift r)).
  assert (E : dot (reals (map (fun v => Z.shiftl (u * v) (k - shift r)) (entries r))) w
              = two (k - shift r) * IZR u * dot (reals (entries r)) w).
  { revert w; induction (entries r); intros [|x w]; simpl; try ring.
    rewrite IHl, shiftl_two, mult_IZR by lia. ring. }
  rewrite E, two_minus. field; lra.
Qed.

Lemma add_up_weighted l w : dot (reals (add_up l)) w = two (top l) * weighted l w.
Proof.
  unfold add_up. assert (H : forall ur, In ur l -> (shift (snd ur) <= top l)%Z).
  { intros ur Hin. apply max_le, (in_map (fun ur => shift (snd ur)) l ur Hin). }
  revert H. generalize (top l) as k. intros k H. unfold weighted.
  induction l as [|[u r] l IH]; simpl; [ring|].
  rewrite reals_add, dot_add_l, IH by (intros; apply H; right; assumption).
  rewrite shifted by (apply (H (u, r)); left; reflexivity). ring.
Qed.
