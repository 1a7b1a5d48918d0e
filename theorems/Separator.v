(** Integer weights that pass the check separate every point of the file.

    The check is z·w > 0 in integers, for every signed row z. Rows are the points times positive numbers, powers of two
    among them, and that changes no sign: so the hyperplane with these weights has every point strictly on its side. *)

From Coq Require Import ZArith Reals List Bool Lia Lra.
From Linsep Require Import Vectors Rows.
Import ListNotations.
Open Scope R_scope.

(** The check of one row: its score, in integers. *)
Definition score_of (w : list Z) (r : row) : Z := dotZ (entries r) w.

Lemma score_of_real w r : score r (reals w) = IZR (score_of w r) / two (shift r).
Proof. unfold score, score_of. rewrite dot_reals. reflexivity. Qed.

Lemma score_of_sign w r :
  (0 < score r (reals w) <-> (0 < score_of w r)%Z) /\ (0 <= score r (reals w) <-> (0 <= score_of w r)%Z).
Proof.
  rewrite score_of_real. pose proof (Rinv_0_lt_compat _ (two_pos (shift r))) as H. unfold Rdiv.
  split; split; intros A; [apply lt_IZR | apply IZR_lt in A | apply le_IZR | apply IZR_le in A]; nra.
Qed.

Definition integer_weights (bias : bool) (w : list Z) (b : Z) : list Z := if bias then w ++ [b] else w.

Lemma reals_integer_weights bias w b : reals (integer_weights bias w b) = weights_of bias (reals w) (IZR b).
Proof. destruct bias; simpl; [apply map_app | reflexivity]. Qed.

Theorem separator bias one points w b :
  (0 < one)%Z -> (bias = false -> b = 0%Z) ->
  (forall p, In p points -> length (values p) = length w) ->
  forallb (fun r => (0 <? score_of (integer_weights bias w b) r)%Z) (map (signed_row bias one) points) = true ->
  forall p, In p points -> 0 < side one p (reals w) (IZR b).
Proof.
  intros H1 Hb Hl H p Hp. rewrite forallb_forall in H.
  specialize (H _ (in_map (signed_row bias one) _ _ Hp)). apply Z.ltb_lt in H.
  apply (proj1 (score_of_sign _ _)) in H. rewrite reals_integer_weights in H.
  apply sides_agree in H; auto. split; [|intros E; rewrite (Hb E); reflexivity].
  unfold reals; rewrite map_length. symmetry; auto.
Qed.

(** Columns and rows may be scaled first. A separator of the scaled rows gives one of the rows, and back: each weight
    is multiplied as its column was, and a row's factor is positive. *)
Fixpoint times (a b : list R) : list R :=
  match a, b with
  | x :: a', y :: b' => x * y :: times a' b'
  | _, _ => []
  end.

Theorem scaled_columns_and_rows (c : R) (s z w : list R) :
  0 < c -> length s = length z ->
  (0 < dot (scale c (times s z)) w <-> 0 < dot z (times s w)).
Proof.
  intros Hc Hs. rewrite dot_scale_l.
  replace (dot (times s z) w) with (dot z (times s w)); [split; intros; nra|].
  clear c Hc. revert z w Hs; induction s as [|x s IH]; intros [|y z] [|v w]; simpl; intros; try discriminate; auto; try ring.
  rewrite IH by lia. ring.
Qed.
