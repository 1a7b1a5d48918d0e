(** An obstruction forbids every strict separator.

    It is some rows z with positive whole numbers u and Σ u z = 0. Whatever the real w, Σ u (z·w) = 0, so not all of these
    z·w can be positive (Gordan 1873). With a bias it says that a weighted mean of the one class is a weighted
    mean of the other: the hulls of the classes meet. *)

From Coq Require Import ZArith Reals List Bool Lia Lra.
From Linsep Require Import Vectors Rows.
Import ListNotations.
Open Scope R_scope.

(** The check, in integers. *)
Definition cancels (l : combination) : bool := forallb (Z.eqb 0) (add_up l).

Definition is_obstruction (l : combination) : bool :=
  negb (match l with [] => true | _ => false end) && all_positive l && cancels l.

Lemma cancels_weighted l w : cancels l = true -> weighted l w = 0.
Proof.
  intros H. assert (E : dot (reals (add_up l)) w = 0).
  { apply dot_zeros. unfold cancels in H. rewrite forallb_forall in H. apply Forall_forall. intros x Hx.
    apply in_map_iff in Hx as [v [<- Hv]]. apply H, Z.eqb_eq in Hv. rewrite <- Hv. reflexivity. }
  rewrite add_up_weighted in E. pose proof (two_pos (top l)). nra.
Qed.

Lemma weighted_nonneg l w :
  all_positive l = true -> (forall ur, In ur l -> 0 <= score (snd ur) w) ->
  0 <= weighted l w /\ (weighted l w = 0 -> forall ur, In ur l -> score (snd ur) w = 0).
Proof.
  unfold all_positive. rewrite forallb_forall. intros Hu Hw. unfold weighted. induction l as [|a l IH]; simpl in *.
  - split; [lra | tauto].
  - destruct IH as [IH1 IH2]; auto.
    assert (Ha : 0 < IZR (fst a)) by (apply IZR_lt, Z.ltb_lt, Hu; auto).
    assert (Hs := Hw a (or_introl eq_refl)).
    assert (Hp : 0 <= IZR (fst a) * score (snd a) w) by (apply Rmult_le_pos; lra).
    split; [lra|]. intros E ur [<-|Hin]; [nra|]. apply IH2; auto. lra.
Qed.

(** Where w is nowhere negative on an obstruction, it is 0 there. *)
Theorem weak_on_obstruction l w :
  all_positive l = true -> cancels l = true -> (forall ur, In ur l -> 0 <= score (snd ur) w) ->
  forall ur, In ur l -> score (snd ur) w = 0.
Proof. intros Hu Hc Hw. apply weighted_nonneg; auto. apply cancels_weighted; assumption. Qed.

Theorem obstruction l w : is_obstruction l = true -> ~ (forall ur, In ur l -> 0 < score (snd ur) w).
Proof.
  unfold is_obstruction. rewrite !andb_true_iff. intros [[Hn Hu] Hc] H.
  destruct l as [|a l]; [discriminate|].
  assert (E : score (snd a) w = 0).
  { apply (weak_on_obstruction (a :: l)); auto; [intros; left; auto | left; reflexivity]. }
  specialize (H a (or_introl eq_refl)). lra.
Qed.

(** The same of the points of the file: no hyperplane has all of them strictly on their sides. *)
Theorem no_strict_separator bias one points d l w b :
  (0 < one)%Z -> (forall p, In p points -> length (values p) = d) ->
  (forall ur, In ur l -> In (snd ur) (map (signed_row bias one) points)) -> is_obstruction l = true ->
  is_hyperplane bias d w b -> ~ (forall p, In p points -> 0 < side one p w b).
Proof.
  intros H1 Hd Hl Ho Hw H. apply (obstruction l (weights_of bias w b) Ho).
  intros ur Hin. apply Hl, in_map_iff in Hin as [p [<- Hp]].
  apply sides_agree; auto. rewrite Hd; assumption.
Qed.

(** Class by class. [share c l w] is Σ u (x·w) over the rows of class c, and [weight c l] is Σ u: the two classes have the
    same weight, and the same weighted mean as far as any w can tell, which is to say the same mean. *)
Definition share (c : bool) (one : Z) (l : list (Z * point)) (w : list R) : R :=
  total (map (fun up => if eqb (is_positive (snd up)) c then IZR (fst up) * dot (map (number one) (values (snd up))) w else 0) l).

Definition weight (c : bool) (l : list (Z * point)) : R :=
  total (map (fun up => if eqb (is_positive (snd up)) c then IZR (fst up) else 0) l).

Lemma weighted_by_class one l d w b :
  (0 < one)%Z -> (forall up, In up l -> length (values (snd up)) = d) -> length w = d ->
  weighted (map (fun up => (fst up, signed_row true one (snd up))) l) (w ++ [b])
  = IZR one * (share true one l w - share false one l w + b * (weight true l - weight false l)).
Proof.
  intros H1 Hd Hw. unfold weighted, share, weight. induction l as [|[u p] l IH]; simpl; [ring|].
  rewrite IH by (intros; apply Hd; right; assumption).
  change (w ++ [b]) with (weights_of true w b). rewrite score_signed_row; [|assumption|].
  - unfold side, sign. destruct (is_positive p); simpl; ring.
  - split; [|discriminate]. rewrite Hw. symmetry. apply (Hd (u, p)). left; reflexivity.
Qed.

Theorem equal_means one l d :
  (0 < one)%Z -> (forall up, In up l -> length (values (snd up)) = d) ->
  cancels (map (fun up => (fst up, signed_row true one (snd up))) l) = true ->
  weight true l = weight false l /\ forall w, length w = d -> share true one l w = share false one l w.
Proof.
  intros H1 Hd Hc. apply IZR_lt in H1 as H1'.
  assert (E : forall w b, length w = d ->
    share true one l w - share false one l w + b * (weight true l - weight false l) = 0).
  { intros w b Hw. pose proof (weighted_by_class one l d w b H1 Hd Hw) as E.
    rewrite cancels_weighted in E by assumption. nra. }
  split.
  - pose proof (E (repeat 0 d) 0 (repeat_length _ _)). pose proof (E (repeat 0 d) 1 (repeat_length _ _)). lra.
  - intros w Hw. specialize (E w 0 Hw). lra.
Qed.

(** And back: equal weights and equal means forbid every hyperplane, whatever the numbers. *)
Theorem equal_means_obstruct one l w b :
  l <> [] -> (forall up, In up l -> (0 < fst up)%Z) ->
  weight true l = weight false l -> share true one l w = share false one l w ->
  ~ (forall up, In up l -> 0 < side one (snd up) w b).
Proof.
  intros Hn Hu He Hs H.
  assert (E : total (map (fun up => IZR (fst up) * side one (snd up) w b) l)
              = share true one l w - share false one l w + b * (weight true l - weight false l)).
  { unfold share, weight. clear. induction l as [|[u p] l IH]; simpl; [ring|]. rewrite IH.
    unfold side, sign. destruct (is_positive p); simpl; ring. }
  assert (P : 0 < total (map (fun up => IZR (fst up) * side one (snd up) w b) l)).
  { clear E He Hs. induction l as [|a l IH]; [congruence|]. simpl.
    assert (0 < IZR (fst a)) by (apply IZR_lt, Hu; left; reflexivity).
    assert (0 < side one (snd a) w b) by (apply H; left; reflexivity).
    destruct l as [|c l]; [simpl; nra|].
    assert (0 < total (map (fun up => IZR (fst up) * side one (snd up) w b) (c :: l))).
    { apply IH; [discriminate | intros; apply Hu; right; assumption | intros; apply H; right; assumption]. }
    nra. }
  rewrite E, He, Hs in P. lra.
Qed.
