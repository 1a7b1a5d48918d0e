(** The Perceptron makes at most (R/gamma)² updates, in any order.

    The rule, as learners/perceptron.py states it: start from w = 0, b = 0; while some row has y(w·x + b) <= 0, add yx to w and y to
    b. Write Z = y(x, 1). If |Z| <= R for every row, and some unit vector (u, c) has Z·(u, c) >= gamma > 0 for every row, there
    are at most (R/gamma)² updates (Novikoff 1962). Which of the wrong rows is taken, and how often, is left open: a run is any
    list of updates that the rule allows. Where a margin m is asked for, rows with y(w·x + b) <= m are updated, and
    the bound is (R² + 2m)/gamma².

    Tao's bits: with coordinates up to 2^s and up to 2^t updates no weight is beyond 2^(s+t). And no score is beyond
    (D+1)·t·B² after t updates, B the largest coordinate: so integers of 64 bits hold them, as `exact_updates` says. *)

From Coq Require Import ZArith Reals List Lia Lra.
From Linsep Require Import Vectors Spread.
Import ListNotations.
Open Scope R_scope.

(** A row: its coordinates x and its class y. *)
Definition example : Type := list R * R.

Section Perceptron.
Variable d : nat. (* columns *)
Variable rows : list example.
Variable bias : R. (* 1, or 0 for a hyperplane through the origin *)
Variable m : R. (* the margin that is asked for: 0, unless said otherwise *)

Hypothesis bias_is : bias = 0 \/ bias = 1.
Hypothesis classes : forall x y, In (x, y) rows -> y = 1 \/ y = -1.

(** [run k w b]: k updates may lead to the weights w and b. *)
Inductive run : nat -> list R -> R -> Prop :=
  | start : run 0 (repeat 0 d) 0
  | update k w b x y :
      run k w b -> In (x, y) rows -> y * (dot w x + b) <= m -> run (S k) (add w (scale y x)) (b + y * bias).

Lemma no_bias_stays_0 k w b : run k w b -> bias = 0 -> b = 0.
Proof. induction 1; intros E; auto. rewrite E, IHrun by assumption. ring. Qed.

Section Bound.
Variables (u : list R) (c gamma R : R).
Hypothesis unit : dot u u + c * c = 1.
Hypothesis separates : forall x y, In (x, y) rows -> gamma <= y * (dot u x + bias * c).
Hypothesis gamma_pos : 0 < gamma.
Hypothesis within : forall x y, In (x, y) rows -> dot x x + bias * bias <= R * R.
Hypothesis margin_nonneg : 0 <= m.

(** Each update brings W·U up by gamma at least... *)
Lemma forward k w b : run k w b -> INR k * gamma <= dot w u + b * c.
Proof.
  induction 1 as [|k w b x y Hr IH Hin Hm].
  - simpl. rewrite dot_zeros; [lra|]. clear. induction d; constructor; auto.
  - rewrite S_INR, dot_add_l, dot_scale_l, (dot_comm x). specialize (separates x y Hin). nra.
Qed.

(** ... and |W|² up by R² + 2m at most. *)
Lemma outward k w b : run k w b -> dot w w + b * b <= INR k * (R * R + 2 * m).
Proof.
  induction 1 as [|k w b x y Hr IH Hin Hm].
  - simpl. rewrite dot_zeros; [lra|]. clear. induction d; constructor; auto.
  - rewrite S_INR, !dot_add_l, !dot_add_r, !dot_scale_l, !dot_scale_r, (dot_comm x w).
    specialize (within x y Hin).
    assert (Hy : y * y = 1) by (destruct (classes x y Hin) as [-> | ->]; ring).
    assert (Hb : b * bias = b) by (destruct bias_is as [E|E]; [rewrite (no_bias_stays_0 k w b Hr E); ring | rewrite E; ring]).
    replace (dot w w + y * dot w x + (y * dot w x + y * (y * dot x x)) + (b + y * bias) * (b + y * bias))
      with (dot w w + b * b + 2 * (y * (dot w x + b * bias)) + y * y * (dot x x + bias * bias)) by ring.
    rewrite Hb, Hy. lra.
Qed.

Theorem novikoff_with_margin k w b : run k w b -> INR k <= (R * R + 2 * m) / (gamma * gamma).
Proof.
  intros Hr. pose proof (forward k w b Hr) as F. pose proof (outward k w b Hr) as O.
  pose proof (cauchy_schwarz_squared (b :: w) (c :: u)) as CS. simpl in CS.
  pose proof (pos_INR k) as Hk.
  assert (D : 0 < gamma * gamma) by nra.
  apply Rmult_le_reg_r with (gamma * gamma); [assumption|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  destruct (Req_dec (INR k) 0) as [E|E]; [rewrite E; nra|].
  assert (P : 0 < INR k) by lra.
  apply Rmult_le_reg_l with (INR k); [assumption|].
  assert (0 <= INR k * gamma) by nra.
  assert (S : INR k * gamma * (INR k * gamma) <= (dot w u + b * c) * (dot w u + b * c)) by nra.
  replace (c * c + dot u u) with 1 in CS by lra. nra.
Qed.
End Bound.

(** The theorem as the lectures have it: no margin is asked for. *)
Theorem novikoff u c gamma R k w b :
  m = 0 -> dot u u + c * c = 1 -> 0 < gamma ->
  (forall x y, In (x, y) rows -> gamma <= y * (dot u x + bias * c)) ->
  (forall x y, In (x, y) rows -> dot x x + bias * bias <= R * R) ->
  run k w b -> INR k <= (R / gamma) * (R / gamma).
Proof.
  intros Hm Hu Hg Hs HR Hr.
  replace (R / gamma * (R / gamma)) with ((R * R + 2 * m) / (gamma * gamma)) by (rewrite Hm; field; lra).
  eapply novikoff_with_margin; eauto. lra.
Qed.

Section Bits.
Variable B : R.
Hypothesis large : 1 <= B.
Hypothesis coordinates : forall x y, In (x, y) rows -> length x = d /\ forall j, Rabs (nth j x 0) <= B.

Lemma weights_grow k w b : run k w b -> length w = d /\ (forall j, Rabs (nth j w 0) <= INR k * B) /\ Rabs b <= INR k.
Proof.
  induction 1 as [|k w b x y Hr [IH1 [IH2 IH3]] Hin Hm].
  - simpl. rewrite repeat_length. repeat split; [|rewrite Rabs_R0; lra].
    intros j. assert (E : nth j (repeat 0 d) 0 = 0).
    { destruct (nth_in_or_default j (repeat 0 d) 0) as [H|H]; [apply repeat_spec in H|]; assumption. }
    rewrite E, Rabs_R0. lra.
  - destruct (coordinates x y Hin) as [Lx Cx].
    assert (Hy : Rabs y = 1) by (destruct (classes x y Hin) as [-> | ->]; split_Rabs; lra).
    rewrite S_INR. repeat split.
    + assert (L : length (scale y x) = length w) by (unfold scale; rewrite map_length; congruence).
      rewrite <- IH1. clear -L. revert L; generalize (scale y x). induction w; destruct l; simpl; intros; try lia. auto.
    + intros j. rewrite nth_add, nth_scale. eapply Rle_trans; [apply Rabs_triang|].
      rewrite Rabs_mult, Hy. specialize (IH2 j). specialize (Cx j). lra.
    + eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, Hy.
      assert (Rabs bias <= 1) by (destruct bias_is as [-> | ->]; [rewrite Rabs_R0 | rewrite Rabs_R1]; lra). lra.
Qed.

Lemma product_bound (a x : list R) A C :
  0 <= A -> 0 <= C -> (forall j, Rabs (nth j a 0) <= A) -> (forall j, Rabs (nth j x 0) <= C) ->
  Rabs (dot a x) <= INR (length x) * (A * C).
Proof.
  intros HA HC. revert x; induction a as [|p a IH]; intros [|q x] Ha Hx; simpl dot; simpl length;
    try (rewrite Rabs_R0; apply Rmult_le_pos; [apply pos_INR | nra]).
  rewrite S_INR. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  specialize (IH x (fun j => Ha (S j)) (fun j => Hx (S j))).
  specialize (Ha 0%nat). specialize (Hx 0%nat). simpl in Ha, Hx.
  pose proof (Rmult_le_compat _ _ _ _ (Rabs_pos p) (Rabs_pos q) Ha Hx). lra.
Qed.

(** No score is beyond (D+1)·t·B². *)
Theorem scores_stay_small k w b x y :
  run k w b -> In (x, y) rows -> Rabs (dot w x + b) <= (INR d + 1) * (INR k * (B * B)).
Proof.
  intros Hr Hin. destruct (weights_grow k w b Hr) as [_ [Hw Hb]]. destruct (coordinates x y Hin) as [Lx Cx].
  pose proof (pos_INR k) as Hk.
  assert (P : Rabs (dot w x) <= INR (length x) * (INR k * B * B)).
  { apply product_bound; auto; [apply Rmult_le_pos|]; lra. }
  rewrite Lx in P. assert (1 <= B * B) by nra. assert (INR k * 1 <= INR k * (B * B)) by (apply Rmult_le_compat_l; lra).
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
End Bits.

(** Tao's bits. *)
Theorem bits s t k w b :
  (forall x y, In (x, y) rows -> length x = d /\ forall j, Rabs (nth j x 0) <= two s) -> INR k <= two t ->
  run k w b -> forall j, Rabs (nth j w 0) <= two (s + t).
Proof.
  intros Hx Hk Hr j. destruct (weights_grow (two s) Hx k w b Hr) as [_ [H _]].
  rewrite two_plus. specialize (H j). pose proof (two_pos s). nra.
Qed.
End Perceptron.
