(** What VERIFIED means: a claim that passes [check] is true of the points of the file, for every real hyperplane.

    The theorem holds whatever the two hints are, the dependences that elimination finds and the factor that floats give. *)

From Coq Require Import ZArith Reals List Bool Arith Lia Lra Permutation.
From Linsep Require Import Vectors Rows Separator Obstruction Spread Margin Tables Mistakes PositiveDefinite Checker.
Import ListNotations.
Open Scope R_scope.

Lemma each_row_fine (g : Z -> row -> outcome unit) t : forall i u, each_row g i t = Fine u -> forall r, In r t -> exists j, g j r = Fine tt.
Proof.
  induction t as [|r t IH]; simpl; intros i u H q Hq; [destruct Hq|].
  destruct (g i r) as [[]| |] eqn:E; try discriminate. destruct Hq as [<-|Hq]; eauto.
Qed.

Section Sound.
Variable null : list (list Z) -> list dependence.
Variable factor : list (list Z) -> Z -> option (list (list Z)).
Variable f : frame.
Variable points : list point.

Let t := map (signed_row (with_bias f) (one f)) points.
Hypothesis one_pos : (0 < one f)%Z.
Hypothesis widths : forall p, In p points -> length (values p) = columns f.

Notation hyperplane := (is_hyperplane (with_bias f) (columns f)).
Notation row_of := (signed_row (with_bias f) (one f)).
Notation vector := (weights_of (with_bias f)).

Lemma in_t r : In r t -> exists p, In p points /\ r = row_of p.
Proof. intros H. apply in_map_iff in H as [p [<- H]]. eauto. Qed.

Lemma agree p w b : In p points -> hyperplane w b ->
  (0 < score (row_of p) (vector w b) <-> 0 < side (one f) p w b) /\ (0 <= score (row_of p) (vector w b) <-> 0 <= side (one f) p w b).
Proof. intros Hp Hw. apply sides_agree; auto. rewrite widths; assumption. Qed.

Lemma weak_rows w b : hyperplane w b -> weakly f points w b -> forall r, In r t -> 0 <= score r (vector w b).
Proof. intros Hw H r Hr. apply in_t in Hr as [p [Hp ->]]. apply agree; auto. Qed.

Lemma strict_rows w b : hyperplane w b -> strictly f points w b -> forall r, In r t -> 0 < score r (vector w b).
Proof. intros Hw H r Hr. apply in_t in Hr as [p [Hp ->]]. apply agree; auto. Qed.

(** Rows on which no weak w is anything but 0 forbid strict separation. *)
Lemma inseparable_from (l : combination) :
  l <> [] -> (forall ur, In ur l -> In (snd ur) t) ->
  (forall v, (forall ur, In ur l -> 0 <= score (snd ur) v) -> forall ur, In ur l -> score (snd ur) v = 0) ->
  inseparable f points.
Proof.
  intros N Hl H w b Hw Hs. destruct l as [|a l]; [congruence|].
  assert (P : forall ur, In ur (a :: l) -> 0 < score (snd ur) (vector w b)) by (intros; apply strict_rows; auto).
  assert (E : score (snd a) (vector w b) = 0) by (apply H; [intros ur Hur; left; auto | left; reflexivity]).
  specialize (P a (or_introl eq_refl)). lra.
Qed.

Lemma inseparable_by part rows weights l :
  read_combination rows weights = Fine part -> look_up (numbered t) part = Fine l -> cancels l = true -> inseparable f points.
Proof.
  intros R L C. destruct (read_combination_positive _ _ _ _ _ R L) as [N P]. apply (inseparable_from l N).
  - apply (look_up_In _ _ _ L).
  - intros v Hv. apply weak_on_obstruction; assumption.
Qed.

Lemma integer_hyperplane w b : (length w =? columns f)%nat && (with_bias f || (b =? 0)%Z) = true -> hyperplane (reals w) (IZR b).
Proof.
  rewrite andb_true_iff, orb_true_iff, Nat.eqb_eq, Z.eqb_eq. intros [H1 H2]. split; [unfold reals; rewrite map_length; assumption|].
  intros E. destruct H2 as [H2| ->]; [congruence | reflexivity].
Qed.

(** The score in integers and the side of the point. *)
Lemma integer_side p w b : In p points -> hyperplane (reals w) (IZR b) ->
  ((0 < score_of (full_weights f w b) (row_of p))%Z <-> 0 < side (one f) p (reals w) (IZR b)) /\
  ((0 <= score_of (full_weights f w b) (row_of p))%Z <-> 0 <= side (one f) p (reals w) (IZR b)).
Proof.
  intros Hp Hw. destruct (score_of_sign (full_weights f w b) (row_of p)) as [A B].
  unfold full_weights in *. rewrite reals_integer_weights in A, B. destruct (agree p _ _ Hp Hw) as [C D]. tauto.
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
  hyperplane (reals w) (IZR b) -> each_row (check_side (full_weights f w b) w false far) 0 t = Fine u ->
  existsb (is_strict (full_weights f w b)) t = true ->
  weakly f points (reals w) (IZR b) /\ exists p, In p points /\ 0 < side (one f) p (reals w) (IZR b).
Proof.
  intros Hw H He. split.
  - intros p Hp. destruct (each_row_fine _ _ _ _ H (row_of p) (in_map _ _ _ Hp)) as [j Hj].
    apply sides_checked in Hj as [Hj _]. apply integer_side; assumption.
  - apply existsb_exists in He as [r [Hr Hs]]. apply in_t in Hr as [p [Hp ->]]. exists p. split; auto.
    apply integer_side; auto. apply Z.ltb_lt. assumption.
Qed.

Lemma named_places (g : row -> bool) (P : point -> Prop) s :
  (forall p, In p points -> g (row_of p) = true <-> P p) -> are_places s (places g t) = true ->
  forall i, In i s <-> (0 <= i)%Z /\ exists p, nth_error points (Z.to_nat i) = Some p /\ P p.
Proof.
  intros Hg Hs i. apply are_places_same in Hs.
  assert (E : In i s <-> In i (places g t)) by (split; apply Permutation_in; [|symmetry]; assumption).
  rewrite E, in_places. unfold t. split; intros [H0 [r [Hr HP]]]; split; auto.
  - rewrite nth_error_map in Hr. destruct (nth_error points (Z.to_nat i)) as [p|] eqn:Ep; [|discriminate].
    injection Hr as <-. exists p. split; auto. apply Hg; auto. eapply nth_error_In; eassumption.
  - exists (row_of r). rewrite nth_error_map, Hr. split; auto. apply Hg; auto. eapply nth_error_In; eassumption.
Qed.

Lemma separated_places w b s : hyperplane (reals w) (IZR b) ->
  are_places s (places (is_strict (full_weights f w b)) t) = true ->
  forall i, In i s <-> (0 <= i)%Z /\ exists p, nth_error points (Z.to_nat i) = Some p /\ 0 < side (one f) p (reals w) (IZR b).
Proof.
  intros Hw. apply named_places. intros p Hp. unfold is_strict. rewrite Z.ltb_lt. apply integer_side; assumption.
Qed.

Lemma spanned_rows full rows deps u : check_span full rows deps t = Fine u ->
  forall r, In r t -> is_strict full r = true \/ is_spanned rows deps (entries r) = true.
Proof.
  intros H r Hr. destruct (each_row_fine _ _ _ _ H r Hr) as [j Hj]. apply need_fine, orb_true_iff in Hj. exact Hj.
Qed.

Lemma forms_describe rows deps : forms_of null rows = Fine deps -> describes rows deps = true.
Proof.
  unfold forms_of. destruct (describes rows []) eqn:E; intros H; [injection H as <-; assumption|].
  apply bind_fine in H as [u [R H]]. apply require_fine in R. injection H as <-. assumption.
Qed.

(** Where all rows but the strict ones vanish under every weak w, the separated rows are the most there can be. *)
Lemma largest_by w b s (span : row -> Prop) : hyperplane (reals w) (IZR b) ->
  are_places s (places (is_strict (full_weights f w b)) t) = true ->
  (forall r, In r t -> is_strict (full_weights f w b) r = true \/ span r) ->
  (forall v, (forall r, In r t -> 0 <= score r v) -> forall r, span r -> score r v = 0) ->
  largest f points (reals w) (IZR b) s.
Proof.
  intros Hw Hs Hr Hv. split; [apply separated_places; assumption|].
  intros w' b' Hw' Hweak p Hp Hpos. destruct (Hr (row_of p) (in_map _ _ _ Hp)) as [A|A].
  - apply integer_side; auto. apply Z.ltb_lt. assumption.
  - apply agree in Hpos; auto. rewrite (Hv (vector w' b')) in Hpos; [lra | | assumption].
    apply weak_rows; assumption.
Qed.

Lemma never_strict r : is_strict [] r = true -> False.
Proof. unfold is_strict, score_of. destruct (entries r); discriminate. Qed.

Lemma overlaps_by (span : row -> Prop) : inseparable f points ->
  (forall r, In r t -> is_strict [] r = true \/ span r) ->
  (forall v, (forall r, In r t -> 0 <= score r v) -> forall r, span r -> score r v = 0) -> overlaps f points.
Proof.
  intros Hi Hr Hv. split; auto. intros w b Hw Hweak p Hp.
  destruct (Hr (row_of p) (in_map _ _ _ Hp)) as [A|A]; [destruct (never_strict _ A)|].
  assert (E : score (row_of p) (vector w b) = 0) by (apply Hv; auto; apply weak_rows; assumption).
  rewrite score_signed_row in E by (auto; rewrite widths; assumption). apply IZR_lt in one_pos. nra.
Qed.

(** What a spread says of all rows. *)
Lemma spread_span other rows weights k deps :
  read_combination rows weights = Fine other -> look_up (numbered t) other = Fine k -> cancels k = true ->
  forms_of null (rows_of k) = Fine deps ->
  forall v, (forall r, In r t -> 0 <= score r v) -> forall r, is_spanned (rows_of k) deps (entries r) = true -> score r v = 0.
Proof.
  intros R L C F v Hv. destruct (read_combination_positive _ _ _ _ _ R L) as [_ P].
  apply spread; auto using forms_describe. intros ur Hur. apply Hv. apply (look_up_In _ _ _ L); assumption.
Qed.

Lemma definite_checked proof part l deps : check_definite factor f proof part l = Fine deps -> is_definite_obstruction factor l deps = true.
Proof. unfold check_definite. intros H. steps H. injection H as <-. assumption. Qed.

Lemma definite_claim c full proof separated u :
  check_definite_claim factor f c full proof separated t = Fine u ->
  inseparable f points /\ exists l deps, (forall ur, In ur l -> In (snd ur) t) /\ is_definite_obstruction factor l deps = true /\
    check_rows f c t = Fine tt /\
    (forall s, separated = Some s -> existsb (is_strict full) t = true) /\
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

Lemma definite_span l deps : (forall ur, In ur l -> In (snd ur) t) -> is_definite_obstruction factor l deps = true ->
  forall v, (forall r, In r t -> 0 <= score r v) -> forall r, is_spanned (definite_rows l) deps (entries r) = true -> score r v = 0.
Proof. intros Hl D v Hv. apply (definite_spread factor l deps v D). auto. Qed.

Lemma cost_of_rows each_costs w b : hyperplane w b -> cost_of_mistakes t each_costs (vector w b) = cost_of f points each_costs w b.
Proof.
  intros Hw. unfold cost_of_mistakes, cost_of, t. clear t. revert each_costs. induction points as [|p ps IH]; intros [|c cs]; simpl; auto.
  rewrite IH by (intros; apply widths; right; assumption). f_equal.
  assert (A : 0 < score (row_of p) (vector w b) <-> 0 < side (one f) p w b).
  { apply sides_agree; auto. rewrite widths by (left; reflexivity). assumption. }
  destruct (Rlt_dec 0 (score (row_of p) (vector w b))), (Rlt_dec 0 (side (one f) p w b)); tauto.
Qed.

Lemma separable_holds w b m u :
  hyperplane (reals w) (IZR b) -> check_rows f (Separable w b m) t = Fine u -> (m <> None -> one f = 1%Z) ->
  strictly f points (reals w) (IZR b) /\
  forall l, option_map low m = Some l -> forall p, In p points -> dyadic l * norm (reals w) <= side (one f) p (reals w) (IZR b).
Proof.
  intros Hw H H1. simpl in H.
  assert (S : forall p, In p points -> (1 <= score_of (full_weights f w b) (row_of p))%Z /\
    forall l, option_map low m = Some l -> is_far l w (score_of (full_weights f w b) (row_of p)) (shift (row_of p)) = true).
  { intros p Hp. destruct (each_row_fine _ _ _ _ H (row_of p) (in_map _ _ _ Hp)) as [j Hj].
    apply sides_checked in Hj as [A B]. split; assumption. }
  split.
  - intros p Hp. apply integer_side; auto. destruct (S p Hp). lia.
  - intros l Hl p Hp. destruct (S p Hp) as [A B]. specialize (B l Hl). apply far in B; [|lia].
    unfold full_weights in B. rewrite reals_integer_weights, score_signed_row in B by (auto; rewrite widths; assumption).
    assert (one f = 1%Z) as E by (apply H1; intros ->; discriminate). rewrite E in B |- *. lra.
Qed.
End Sound.

Theorem check_sound null factor f c points :
  check null factor f c (map (signed_row (with_bias f) (one f)) points) = Fine tt -> holds f points c.
Proof.
  set (t := map (signed_row (with_bias f) (one f)) points). intros H. unfold check in H. fold t in H.
  apply bind_fine in H as [u0 [E0 H]]. apply require_fine, andb_true_iff in E0 as [E1 E2]. apply Z.ltb_lt in E1.
  assert (W : forall p, In p points -> length (values p) = columns f).
  { intros p Hp. rewrite forallb_forall in E2. specialize (E2 _ (in_map _ _ _ Hp)). apply Nat.eqb_eq in E2.
    unfold signed_row, width in E2. destruct (with_bias f); simpl in E2; rewrite ?app_length, map_length in E2; simpl in E2; lia. }
  clear u0 E2. destruct c as [w b m | w b o s | o s | o | w b d s | d | d | w b m].
  - (* separable *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine, integer_hyperplane in Hw.
    apply bind_fine in H as [u2 [H1 H]]. apply require_fine in H1.
    assert (Hm : m <> None -> one f = 1%Z) by (destruct m; [intros _; apply Z.eqb_eq; assumption | congruence]).
    destruct m as [[lo [[up near]|]]|].
    + apply bind_fine in H as [part [R H]]. apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [u4 [E4 H]].
      apply bind_fine in H as [l [L H]]. apply bind_fine in H as [u5 [E5 H]]. apply need_fine in H.
      destruct (separable_holds f points E1 W w b _ _ Hw E3 Hm) as [A B]. split; auto. split; [auto|].
      intros w' b' m' Hw' Hn Hside. assert (E : one f = 1%Z) by (apply Hm; discriminate).
      eapply (Margin.near (with_bias f) points (columns f) l up w' b' m'); eauto.
      * rewrite <- E. apply (look_up_In _ _ _ L).
      * intros p Hp. rewrite <- E. auto.
    + destruct (separable_holds f points E1 W w b _ _ Hw H Hm) as [A B]. split; auto.
    + destruct (separable_holds f points E1 W w b _ _ Hw H Hm) as [A B]. split; auto.
  - (* touching *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine, integer_hyperplane in Hw.
    apply bind_fine in H as [part [R H]]. destruct s as [[s sp]|].
    + apply bind_fine in H as [other [R2 H]]. apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [u4 [E4 H]].
      apply need_fine in E4. apply bind_fine in H as [u5 [E5 H]]. apply bind_fine in H as [l [L H]]. apply bind_fine in H as [k [K H]].
      apply bind_fine in H as [u6 [C1 H]]. apply need_fine in C1. apply bind_fine in H as [u7 [C2 H]]. apply need_fine in C2.
      apply bind_fine in H as [u8 [P H]]. apply need_fine in P. apply bind_fine in H as [deps [F H]].
      destruct (touching_rows f points E1 W w b _ _ Hw E3 E4) as [A B]. split.
      * repeat split; auto. eapply (inseparable_by f points E1 W); eassumption.
      * eapply (largest_by f points E1 W w b s (fun r => is_spanned (rows_of k) deps (entries r) = true)); auto.
        -- apply (spanned_rows f points _ _ _ _ H).
        -- eapply spread_span; eassumption.
    + apply bind_fine in H as [u3 [E3 H]]. apply bind_fine in H as [u4 [E4 H]].
      apply need_fine in E4. apply bind_fine in H as [u5 [E5 H]]. apply bind_fine in H as [l [L H]]. apply need_fine in H.
      destruct (touching_rows f points E1 W w b _ _ Hw E3 E4) as [A B]. split; auto.
      repeat split; auto. eapply (inseparable_by f points E1 W); eassumption.
  - (* overlapping *)
    apply bind_fine in H as [part [R H]]. apply bind_fine in H as [other [R2 H]]. apply bind_fine in H as [u5 [E5 H]].
    apply bind_fine in H as [l [L H]]. apply bind_fine in H as [k [K H]].
    apply bind_fine in H as [u6 [C1 H]]. apply need_fine in C1. apply bind_fine in H as [u7 [C2 H]]. apply need_fine in C2.
    apply bind_fine in H as [deps [F H]].
    eapply (overlaps_by f points E1 W (fun r => is_spanned (rows_of k) deps (entries r) = true)).
    + eapply (inseparable_by f points E1 W); eassumption.
    + apply (spanned_rows f points _ _ _ _ H).
    + eapply spread_span; eassumption.
  - (* not separable *)
    apply bind_fine in H as [part [R H]]. apply bind_fine in H as [u5 [E5 H]]. apply bind_fine in H as [l [L H]]. apply need_fine in H.
    eapply (inseparable_by f points E1 W); eassumption.
  - (* touching, positive definite *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine, integer_hyperplane in Hw.
    apply (definite_claim factor f points E1 W) in H as [I [l [deps [Hl [D [C [X [P S]]]]]]]].
    destruct (touching_rows f points E1 W w b _ _ Hw C (X s eq_refl)) as [A B]. split; [repeat split; assumption|].
    destruct s as [s|]; auto.
    eapply (largest_by f points E1 W w b s (fun r => is_spanned (definite_rows l) deps (entries r) = true)); auto.
    + apply (spanned_rows f points _ _ _ _ (S s eq_refl)).
    + eapply definite_span; eassumption.
  - (* overlapping, positive definite *)
    apply (definite_claim factor f points E1 W) in H as [I [l [deps [Hl [D [C [X [P S]]]]]]]].
    eapply (overlaps_by f points E1 W (fun r => is_spanned (definite_rows l) deps (entries r) = true)); auto.
    + apply (spanned_rows f points _ _ _ _ S).
    + eapply definite_span; eassumption.
  - (* not separable, positive definite *)
    apply (definite_claim factor f points E1 W) in H as [I _]. exact I.
  - (* mistakes *)
    apply bind_fine in H as [u1 [Hw H]]. apply require_fine, integer_hyperplane in Hw.
    apply bind_fine in H as [u2 [E5 H]]. split.
    + unfold check_mistakes in H. apply bind_fine in H as [u3 [_ H]]. apply bind_fine in H as [u4 [P _]]. apply need_fine in P.
      apply (named_places f points (fun r => negb (is_strict (full_weights f w b) r))); auto.
      intros p Hp. unfold is_strict. rewrite negb_true_iff, Z.ltb_ge.
      destruct (integer_side f points E1 W p w b Hp Hw) as [A _]. rewrite <- A. lia.
    + intros w' b' Hw'. rewrite <- (cost_of_rows f points E1 W) by assumption.
      replace (match costs m with Some c => c | None => map (fun _ => 1%Z) points end)
        with (match costs m with Some c => c | None => map (fun _ => 1%Z) t end) by (destruct (costs m); auto; apply map_map).
      eapply mistakes. exact H.
Qed.
