(** What VERIFIED means: a claim that passes [check] is true of the points of the file, for every real hyperplane.

    The theorem holds whatever the two hints are, the dependences that elimination finds and the factor that floats give. *)

From Coq Require Import ZArith Reals List Bool Arith Lia Lra Permutation.
From Linsep Require Import Vectors Rows Separator Obstruction Spread Margin Tables Mistakes PositiveDefinite Checker.
Import ListNotations.
Open Scope R_scope.

Lemma each_row_fine (g : Z -> row -> outcome unit) t u : each_row g t = Fine u -> forall i r, In (i, r) t -> g i r = Fine tt.
Proof.
  induction t as [|[j q] t IH]; simpl; intros H i r Hr; [destruct Hr|].
  destruct (g j q) as [[]| |] eqn:E; try discriminate. destruct Hr as [Hr|Hr]; [injection Hr as <- <-; assumption | auto].
Qed.

(** For any things that have rows, as long as the score of the row is the side of the thing, times a positive number. *)
Section Sound.
Variable null : list (list Z) -> list dependence.
Variable factor : list (list Z) -> Z -> option (list (list Z)).
Variable f : frame.
Context {A : Type}.
Variable row_of : A -> row.
Variable side_of : A -> list R -> R -> R.
Variable hyperplane : list R -> R -> Prop.
Variable vector : list R -> R -> list R.
Variable points : list (Z * A).

Let t := map (fun ip => (fst ip, row_of (snd ip))) points.
Hypothesis one_pos : (0 < one f)%Z.
Hypothesis score_side : forall i p w b, In (i, p) points -> hyperplane w b ->
  score (row_of p) (vector w b) = IZR (one f) * side_of p w b.
Hypothesis integer_hyperplane : forall w b, (length w =? columns f)%nat && (with_bias f || (b =? 0)%Z) = true ->
  hyperplane (reals w) (IZR b) /\ reals (full_weights f w b) = vector (reals w) (IZR b).
Hypothesis nearest : one f = 1%Z -> spare f = 0%nat -> forall l up w b m,
  (forall ur, In ur l -> exists i p, In (i, p) points /\ snd ur = row_of p) -> is_near (with_bias f) (columns f) l up = true ->
  hyperplane w b -> 0 < norm w -> (forall i p, In (i, p) points -> m * norm w <= side_of p w b) -> m <= dyadic up.

Notation strictly := (strictly side_of points).
Notation weakly := (weakly side_of points).
Notation inseparable := (inseparable side_of hyperplane points).

Lemma in_t i r : In (i, r) t -> exists p, In (i, p) points /\ r = row_of p.
Proof. intros H. apply in_map_iff in H as [[j p] [E H]]. injection E as <- <-. eauto. Qed.

Lemma to_t i p : In (i, p) points -> In (i, row_of p) t.
Proof. intros H. apply (in_map (fun ip => (fst ip, row_of (snd ip))) points (i, p) H). Qed.

Lemma agree i p w b : In (i, p) points -> hyperplane w b ->
  (0 < score (row_of p) (vector w b) <-> 0 < side_of p w b) /\ (0 <= score (row_of p) (vector w b) <-> 0 <= side_of p w b).
Proof. intros Hp Hw. rewrite (score_side i) by assumption. pose proof (IZR_lt _ _ one_pos). split; split; intros; nra. Qed.

Lemma weak_rows w b : hyperplane w b -> weakly w b -> forall i r, In (i, r) t -> 0 <= score r (vector w b).
Proof. intros Hw H i r Hr. apply in_t in Hr as [p [Hp ->]]. apply (agree i); auto. apply (H i); assumption. Qed.

Lemma strict_rows w b : hyperplane w b -> strictly w b -> forall i r, In (i, r) t -> 0 < score r (vector w b).
Proof. intros Hw H i r Hr. apply in_t in Hr as [p [Hp ->]]. apply (agree i); auto. apply (H i); assumption. Qed.

(** Rows on which no weak w is anything but 0 forbid strict separation. *)
Lemma inseparable_from (l : combination) :
  l <> [] -> (forall ur, In ur l -> exists i, In (i, snd ur) t) ->
  (forall v, (forall ur, In ur l -> 0 <= score (snd ur) v) -> forall ur, In ur l -> score (snd ur) v = 0) ->
  inseparable.
Proof.
  intros N Hl H w b Hw Hs. destruct l as [|a l]; [congruence|].
  assert (P : forall ur, In ur (a :: l) -> 0 < score (snd ur) (vector w b)).
  { intros ur Hur. destruct (Hl ur Hur) as [i Hi]. eapply strict_rows; eauto. }
  assert (E : score (snd a) (vector w b) = 0) by (apply H; [intros ur Hur; left; auto | left; reflexivity]).
  specialize (P a (or_introl eq_refl)). lra.
Qed.

Lemma inseparable_by part rows weights l :
  read_combination rows weights = Fine part -> look_up (table t) part = Fine l -> cancels l = true -> inseparable.
Proof.
  intros R L C. destruct (read_combination_positive _ _ _ _ _ R L) as [N P]. apply (inseparable_from l N).
  - apply (look_up_In _ _ _ L).
  - intros v Hv. apply weak_on_obstruction; assumption.
Qed.

(** The score in integers and the side of the point. *)
Notation is_integer w b := ((length w =? columns f)%nat && (with_bias f || (b =? 0)%Z) = true).

Lemma integer_side i p w b : In (i, p) points -> is_integer w b ->
  ((0 < score_of (full_weights f w b) (row_of p))%Z <-> 0 < side_of p (reals w) (IZR b)) /\
  ((0 <= score_of (full_weights f w b) (row_of p))%Z <-> 0 <= side_of p (reals w) (IZR b)).
Proof.
  intros Hp Hw. destruct (score_of_sign (full_weights f w b) (row_of p)) as [B C].
  apply integer_hyperplane in Hw as [Hw E]. rewrite E in B, C. destruct (agree i p _ _ Hp Hw) as [D F]. tauto.
Qed.

Lemma sides_checked w b is_strict far i r :
  check_side (full_weights f w b) w is_strict far i r = Fine tt ->
  ((if is_strict then 1 else 0) <= score_of (full_weights f w b) r)%Z /\
  forall l, far = Some l -> is_far l w (score_of (full_weights f w b) r) (shift r) = true.
Proof.
  unfold check_side. intros H. apply bind_fine in H as [u [E H]]. apply need_fine, Z.leb_le in E. split; auto.
  intros l ->. apply need_fine in H. assumption.
Qed.

Lemma touching_rows w b far u :
  is_integer w b -> each_row (check_side (full_weights f w b) w false far) t = Fine u ->
  existsb (fun ir => is_strict (full_weights f w b) (snd ir)) t = true ->
  weakly (reals w) (IZR b) /\ exists i p, In (i, p) points /\ 0 < side_of p (reals w) (IZR b).
Proof.
  intros Hw H He. split.
  - intros i p Hp. pose proof (each_row_fine _ _ _ H i _ (to_t i p Hp)) as Hj.
    apply sides_checked in Hj as [Hj _]. apply (integer_side i); assumption.
  - apply existsb_exists in He as [[i r] [Hr Hs]]. apply in_t in Hr as [p [Hp ->]]. exists i, p. split; auto.
    apply (integer_side i); auto. apply Z.ltb_lt. assumption.
Qed.

Lemma named_places (g : row -> bool) (P : A -> Prop) s :
  (forall i p, In (i, p) points -> g (row_of p) = true <-> P p) -> are_places s (places g t) = true ->
  forall i, In i s <-> exists p, In (i, p) points /\ P p.
Proof.
  intros Hg Hs i. apply are_places_same in Hs.
  assert (E : In i s <-> In i (places g t)) by (split; apply Permutation_in; [|symmetry]; assumption).
  rewrite E, in_places. split; intros [r [Hr HP]].
  - apply in_t in Hr as [p [Hp ->]]. exists p. split; auto. apply (Hg i); auto.
  - exists (row_of r). split; [apply to_t; assumption | apply (Hg i); assumption].
Qed.

Lemma separated_places w b s : is_integer w b ->
  are_places s (places (is_strict (full_weights f w b)) t) = true ->
  forall i, In i s <-> exists p, In (i, p) points /\ 0 < side_of p (reals w) (IZR b).
Proof.
  intros Hw. apply named_places. intros i p Hp. unfold is_strict. rewrite Z.ltb_lt. apply (integer_side i); assumption.
Qed.

Lemma spanned_rows full rows deps u : check_span full rows deps t = Fine u ->
  forall i r, In (i, r) t -> is_strict full r = true \/ is_spanned rows deps (entries r) = true.
Proof.
  intros H i r Hr. pose proof (each_row_fine _ _ _ H i r Hr) as Hj. apply need_fine, orb_true_iff in Hj. exact Hj.
Qed.

Lemma forms_describe rows deps : forms_of null rows = Fine deps -> describes rows deps = true.
Proof.
  unfold forms_of. destruct (describes rows []) eqn:E; intros H; [injection H as <-; assumption|].
  apply bind_fine in H as [u [R H]]. apply require_fine in R. injection H as <-. assumption.
Qed.

(** Where all rows but the strict ones vanish under every weak w, the separated rows are the most there can be. *)
Lemma largest_by w b s (span : row -> Prop) : is_integer w b ->
  are_places s (places (is_strict (full_weights f w b)) t) = true ->
  (forall i r, In (i, r) t -> is_strict (full_weights f w b) r = true \/ span r) ->
  (forall v, (forall i r, In (i, r) t -> 0 <= score r v) -> forall r, span r -> score r v = 0) ->
  largest side_of hyperplane points (reals w) (IZR b) s.
Proof.
  intros Hw Hs Hr Hv. split; [apply separated_places; assumption|].
  intros w' b' Hw' Hweak i p Hp Hpos. destruct (Hr i (row_of p) (to_t i p Hp)) as [B|B].
  - apply (integer_side i); auto. apply Z.ltb_lt. assumption.
  - apply (agree i) in Hpos; auto. rewrite (Hv (vector w' b')) in Hpos; [lra | | assumption].
    apply weak_rows; assumption.
Qed.

Lemma never_strict r : is_strict [] r = true -> False.
Proof. unfold is_strict, score_of. destruct (entries r); discriminate. Qed.

Lemma overlaps_by (span : row -> Prop) : inseparable ->
  (forall i r, In (i, r) t -> is_strict [] r = true \/ span r) ->
  (forall v, (forall i r, In (i, r) t -> 0 <= score r v) -> forall r, span r -> score r v = 0) -> overlaps side_of hyperplane points.
Proof.
  intros Hi Hr Hv. split; auto. intros w b Hw Hweak i p Hp.
  destruct (Hr i (row_of p) (to_t i p Hp)) as [B|B]; [destruct (never_strict _ B)|].
  assert (E : score (row_of p) (vector w b) = 0) by (apply Hv; auto; apply weak_rows; assumption).
  rewrite (score_side i) in E by assumption. pose proof (IZR_lt _ _ one_pos). nra.
Qed.

(** What a spread says of all rows. *)
Lemma spread_span other rows weights k deps :
  read_combination rows weights = Fine other -> look_up (table t) other = Fine k -> cancels k = true ->
  forms_of null (rows_of k) = Fine deps ->
  forall v, (forall i r, In (i, r) t -> 0 <= score r v) -> forall r, is_spanned (rows_of k) deps (entries r) = true -> score r v = 0.
Proof.
  intros R L C F v Hv. destruct (read_combination_positive _ _ _ _ _ R L) as [_ P].
  apply spread; auto using forms_describe. intros ur Hur. destruct (look_up_In _ _ _ L ur Hur) as [i Hi]. eauto.
Qed.

Lemma definite_checked proof part l deps : check_definite factor f proof part l = Fine deps -> is_definite_obstruction factor l deps = true.
Proof. unfold check_definite. intros H. steps H. injection H as <-. assumption. Qed.

Lemma definite_claim c full proof separated u :
  check_definite_claim factor f c full proof separated t = Fine u ->
  inseparable /\ exists l deps, (forall ur, In ur l -> exists i, In (i, snd ur) t) /\ is_definite_obstruction factor l deps = true /\
    check_rows f c t = Fine tt /\
    (forall s, separated = Some s -> existsb (fun ir => is_strict full (snd ir)) t = true) /\
    (forall s, separated = Some (Some s) -> are_places s (places (is_strict full) t) = true) /\
    (match c with DefiniteOverlapping _ => check_span [] (definite_rows l) deps t = Fine tt | _ =>
       forall s, separated = Some (Some s) -> check_span full (definite_rows l) deps t = Fine tt end).
Proof.
  unfold check_definite_claim. intros H.
  apply bind_fine in H as [part [R H]]. apply bind_fine in H as [[] [E1 H]]. apply bind_fine in H as [u2 [E2 H]].
  apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [l [L H]]. apply bind_fine in H as [u4 [E4 H]].
  apply bind_fine in H as [deps [D H]]. apply definite_checked in D.
  pose proof (look_up_In _ _ _ L) as Hl. destruct (read_combination_positive _ _ _ _ _ R L) as [N _]. split.
  - apply (inseparable_from l N Hl). intros v Hv. apply (definite_spread factor l deps v D Hv).
  - exists l, deps. destruct u. repeat split; auto.
    + intros s ->. apply need_fine in E2. assumption.
    + intros s ->. apply need_fine in E4. assumption.
    + destruct c; auto; intros s ->; assumption.
Qed.

Lemma definite_span l deps : (forall ur, In ur l -> exists i, In (i, snd ur) t) -> is_definite_obstruction factor l deps = true ->
  forall v, (forall i r, In (i, r) t -> 0 <= score r v) -> forall r, is_spanned (definite_rows l) deps (entries r) = true -> score r v = 0.
Proof. intros Hl D v Hv. apply (definite_spread factor l deps v D). intros ur Hur. destruct (Hl ur Hur) as [i Hi]. eauto. Qed.

Lemma cost_of_rows each_costs w b : hyperplane w b -> cost_of_mistakes (map snd t) each_costs (vector w b) = cost_of side_of points each_costs w b.
Proof.
  intros Hw. unfold cost_of_mistakes, cost_of, t. clear t nearest. revert score_side each_costs.
  induction points as [|[i p] ps IH]; intros Hs [|c cs]; simpl; auto.
  rewrite IH by (intros; eapply Hs; [right|]; eassumption). f_equal.
  assert (B : 0 < score (row_of p) (vector w b) <-> 0 < side_of p w b).
  { rewrite (Hs i) by (auto; left; reflexivity). pose proof (IZR_lt _ _ one_pos). split; intros; nra. }
  destruct (Rlt_dec 0 (score (row_of p) (vector w b))), (Rlt_dec 0 (side_of p w b)); tauto.
Qed.

Lemma separable_holds w b m u :
  is_integer w b -> check_rows f (Separable w b m) t = Fine u -> (m <> None -> one f = 1%Z) ->
  strictly (reals w) (IZR b) /\
  forall l, option_map low m = Some l -> forall i p, In (i, p) points -> dyadic l * norm (reals w) <= side_of p (reals w) (IZR b).
Proof.
  intros Hw H H1. simpl in H.
  assert (S : forall i p, In (i, p) points -> (1 <= score_of (full_weights f w b) (row_of p))%Z /\
    forall l, option_map low m = Some l -> is_far l w (score_of (full_weights f w b) (row_of p)) (shift (row_of p)) = true).
  { intros i p Hp. pose proof (each_row_fine _ _ _ H i _ (to_t i p Hp)) as Hj.
    apply sides_checked in Hj as [B C]. split; assumption. }
  split.
  - intros i p Hp. apply (integer_side i); auto. destruct (S i p Hp). lia.
  - intros l Hl i p Hp. destruct (S i p Hp) as [B C]. specialize (C l Hl). apply far in C; [|lia].
    apply integer_hyperplane in Hw as [Hw E]. rewrite E, (score_side i) in C by assumption.
    assert (one f = 1%Z) as E1 by (apply H1; intros ->; discriminate). rewrite E1 in C. lra.
Qed.

Lemma definite_part_hits proof part c w rows weights :
  read_combination rows weights = Fine part -> c <> [] -> check_definite_part factor f proof part c = Fine tt ->
  ~ (forall ur, In ur c -> 0 < score (snd ur) w).
Proof.
  intros _ N H Hs. unfold check_definite_part in H. steps H. apply definite_checked in E.
  destruct (definite_spread factor c a w E) as [Z _]; [intros ur Hur; left; auto|].
  destruct c as [|x c]; [congruence|]. pose proof (Hs x (or_introl eq_refl)). rewrite Z in H0 by (left; reflexivity). lra.
Qed.

Theorem check_means c : check null factor f c t = Fine tt -> holds side_of hyperplane points c.
Proof.
  intros H. unfold check in H. apply bind_fine in H as [u0 [_ H]].
  destruct c as [w b m | w b o s | o s | o | w b d s | d | d | w b m].
  - (* separable *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine in Hw.
    apply bind_fine in H as [u2 [H1 H]]. apply require_fine in H1.
    assert (Hm : m <> None -> one f = 1%Z /\ spare f = 0%nat).
    { destruct m; [intros _ | congruence]. apply andb_true_iff in H1 as [B C]. split; [apply Z.eqb_eq | apply Nat.eqb_eq]; assumption. }
    destruct m as [[lo [[up near]|]]|].
    + apply bind_fine in H as [part [R H]]. apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [u4 [E4 H]].
      apply bind_fine in H as [l [L H]]. apply bind_fine in H as [u5 [E5 H]]. apply need_fine in H.
      destruct (separable_holds w b _ _ Hw E3 (fun N => proj1 (Hm N))) as [B C]. split; auto. split; [intros; eapply C; eauto|].
      intros w' b' m' Hw' Hn Hside. destruct Hm as [E Hsp]; [discriminate|].
      eapply nearest; eauto. intros ur Hur. destruct (look_up_In _ _ _ L ur Hur) as [i Hi].
      apply in_t in Hi as [p [Hp Er]]. eauto.
    + destruct (separable_holds w b _ _ Hw H (fun N => proj1 (Hm N))) as [B C]. split; auto. split; auto. intros; eapply C; eauto.
    + destruct (separable_holds w b _ _ Hw H (fun N => proj1 (Hm N))) as [B C]. split; auto.
  - (* touching *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine in Hw.
    apply bind_fine in H as [part [R H]]. destruct s as [[s sp]|].
    + apply bind_fine in H as [other [R2 H]]. apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [u4 [E4 H]].
      apply need_fine in E4. apply bind_fine in H as [u5 [E5 H]]. apply bind_fine in H as [l [L H]]. apply bind_fine in H as [k [K H]].
      apply bind_fine in H as [u6 [C1 H]]. apply need_fine in C1. apply bind_fine in H as [u7 [C2 H]]. apply need_fine in C2.
      apply bind_fine in H as [u8 [P H]]. apply need_fine in P. apply bind_fine in H as [deps [F H]].
      destruct (touching_rows w b _ _ Hw E3 E4) as [B C]. split.
      * repeat split; auto. eapply inseparable_by; eassumption.
      * eapply (largest_by w b s (fun r => is_spanned (rows_of k) deps (entries r) = true)); auto.
        -- apply (spanned_rows _ _ _ _ H).
        -- eapply spread_span; eassumption.
    + apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [u4 [E4 H]].
      apply need_fine in E4. apply bind_fine in H as [u5 [E5 H]]. apply bind_fine in H as [l [L H]]. apply need_fine in H.
      destruct (touching_rows w b _ _ Hw E3 E4) as [B C]. split; auto.
      repeat split; auto. eapply inseparable_by; eassumption.
  - (* overlapping *)
    apply bind_fine in H as [part [R H]]. apply bind_fine in H as [other [R2 H]]. apply bind_fine in H as [u5 [E5 H]].
    apply bind_fine in H as [l [L H]]. apply bind_fine in H as [k [K H]].
    apply bind_fine in H as [u6 [C1 H]]. apply need_fine in C1. apply bind_fine in H as [u7 [C2 H]]. apply need_fine in C2.
    apply bind_fine in H as [deps [F H]].
    eapply (overlaps_by (fun r => is_spanned (rows_of k) deps (entries r) = true)).
    + eapply inseparable_by; eassumption.
    + apply (spanned_rows _ _ _ _ H).
    + eapply spread_span; eassumption.
  - (* not separable *)
    apply bind_fine in H as [part [R H]]. apply bind_fine in H as [u5 [E5 H]]. apply bind_fine in H as [l [L H]]. apply need_fine in H.
    eapply inseparable_by; eassumption.
  - (* touching, positive definite *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine in Hw.
    apply definite_claim in H as [I [l [deps [Hl [D [C [X [P S]]]]]]]].
    destruct (touching_rows w b _ _ Hw C (X s eq_refl)) as [B C']. split; [repeat split; assumption|].
    destruct s as [s|]; auto.
    eapply (largest_by w b s (fun r => is_spanned (definite_rows l) deps (entries r) = true)); auto.
    + apply (spanned_rows _ _ _ _ (S s eq_refl)).
    + eapply definite_span; eassumption.
  - (* overlapping, positive definite *)
    apply definite_claim in H as [I [l [deps [Hl [D [C [X [P S]]]]]]]].
    eapply (overlaps_by (fun r => is_spanned (definite_rows l) deps (entries r) = true)); auto.
    + apply (spanned_rows _ _ _ _ S).
    + eapply definite_span; eassumption.
  - (* not separable, positive definite *)
    apply definite_claim in H as [I _]. exact I.
  - (* mistakes *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine in Hw.
    apply bind_fine in H as [u2 [E5 H]]. split.
    + unfold check_mistakes in H. apply bind_fine in H as [u3 [_ H]]. apply bind_fine in H as [u4 [P _]]. apply need_fine in P.
      apply (named_places (fun r => negb (is_strict (full_weights f w b) r))); auto.
      intros i p Hp. unfold is_strict. rewrite negb_true_iff, Z.ltb_ge.
      destruct (integer_side i p w b Hp Hw) as [B _]. rewrite <- B. lia.
    + intros w' b' Hw'. rewrite <- cost_of_rows by assumption.
      replace (match costs m with Some c => c | None => map (fun _ => 1%Z) points end)
        with (match costs m with Some c => c | None => map (fun _ => 1%Z) t end) by (destruct (costs m); auto; apply map_map).
      eapply mistakes; [|exact H]. intros; eapply definite_part_hits; eassumption.
Qed.
End Sound.

Lemma widths_checked null factor f c points : check null factor f c (rows_for f points) = Fine tt -> spare f = 0%nat ->
  (0 < one f)%Z /\ forall i p, In (i, p) points -> length (values p) = columns f.
Proof.
  intros H S. unfold check in H. apply bind_fine in H as [u0 [E0 _]]. apply require_fine, andb_true_iff in E0 as [E1 E2].
  apply Z.ltb_lt in E1. split; auto. intros i p Hp. rewrite forallb_forall in E2.
  specialize (E2 _ (in_map (fun ip => (fst ip, signed_row (with_bias f) (one f) (snd ip))) points (i, p) Hp)). apply Nat.eqb_eq in E2.
  unfold signed_row, width in E2. rewrite S, Nat.sub_0_r in E2.
  destruct (with_bias f); simpl in E2; rewrite ?app_length, map_length in E2; simpl in E2; lia.
Qed.

Theorem check_sound null factor f c points :
  spare f = 0%nat -> check null factor f c (rows_for f points) = Fine tt -> holds_of_points f points c.
Proof.
  intros S H. destruct (widths_checked _ _ _ _ _ H S) as [H1 W].
  refine (check_means null factor f (signed_row (with_bias f) (one f)) (side (one f)) (is_hyperplane (with_bias f) (columns f))
            (weights_of (with_bias f)) points H1 _ _ _ c H).
  - intros i p w b Hp Hw. apply score_signed_row; auto. rewrite (W i p Hp). assumption.
  - intros w b Hw. apply andb_true_iff in Hw as [E1 E2]. apply Nat.eqb_eq in E1. apply orb_true_iff in E2. split.
    + split; [unfold reals; rewrite map_length; assumption|]. intros E. destruct E2 as [E2|E2]; [congruence|].
      apply Z.eqb_eq in E2. subst b. reflexivity.
    + unfold full_weights. rewrite S. apply reals_integer_weights.
  - intros E1 _ l up w b m Hl Hn Hw Hpos Hm.
    apply (Margin.near (with_bias f) (map snd points) (columns f) l up w b m); auto.
    + intros p Hp. apply in_map_iff in Hp as [[i q] [<- Hp]]. eapply W; eassumption.
    + intros ur Hur. destruct (Hl ur Hur) as [i [p [Hp ->]]]. rewrite E1. apply in_map. apply (in_map snd points (i, p) Hp).
    + intros p Hp. apply in_map_iff in Hp as [[i q] [<- Hp]]. rewrite E1 in Hm. apply (Hm i). assumption.
Qed.
