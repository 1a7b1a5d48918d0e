(** Many classes: by pairs, one against the rest, or all at once.

    The classes are numbered 0 to K - 1. By pairs, an answer is about the rows of two classes alone; against the rest, about all
    rows, those of one class positive. Jointly, a hyperplane is a score w_k·(x, 1) for each class k, the blocks w_k one after
    the other, and a row of class c is on its side of the class k where its own score is the larger one: the excess
    w_c·(x, 1) - w_k·(x, 1) is positive. Kesler's row has (x, 1) in the block of c, -(x, 1) in that of k and 0 in the others; its
    score is the excess. As the blocks of such a row add up to 0, nothing changes if the first block of w is taken off from
    all of them, and then it need not be there: [excess_spared]. *)

From Coq Require Import ZArith Reals List Bool Arith Lia Lra.
From Linsep Require Import Vectors Rows Separator Obstruction Spread Margin Tables Mistakes PositiveDefinite Checker Soundness.
Import ListNotations.

Record member := Member { class_of : nat; values_of : list (Z * Z) }.

(** A row of one class, and another class. *)
Record rival := Rival { own_class : nat; other_class : nat; rival_values : list (Z * Z) }.

Inductive question := Pair (negative positive : nat) | Rest (positive : nat) | Joint.

Inductive grouping := ByPairs | ByRest | Jointly.

Definition questions (by_ : grouping) (k : nat) : list question :=
  match by_ with
  | ByPairs => flat_map (fun i => map (Pair i) (seq (S i) (k - S i))) (seq 0 k)
  | ByRest => map Rest (seq 0 k)
  | Jointly => [Joint]
  end.

(** What an answer is about. *)
Definition of_pair (i j : nat) (m : Z * member) : list (Z * point) :=
  let c := class_of (snd m) in
  if (c =? i)%nat || (c =? j)%nat then [(fst m, Point (c =? j)%nat (values_of (snd m)))] else [].

Definition of_rest (j : nat) (m : Z * member) : list (Z * point) :=
  [(fst m, Point (class_of (snd m) =? j)%nat (values_of (snd m)))].

Definition of_joint (k : nat) (m : Z * member) : list (Z * rival) :=
  let c := class_of (snd m) in
  flat_map (fun j => if (j =? c)%nat then [] else [((Z.of_nat k * fst m + Z.of_nat j)%Z, Rival c j (values_of (snd m)))]) (seq 0 k).

(** A [flat_map] for long tables. *)
Fixpoint collect {A B} (f : A -> list B) (l : list A) (found : list B) : list B :=
  match l with
  | [] => rev_append found []
  | a :: l' => collect f l' (rev_append (f a) found)
  end.

Lemma collect_flat_map {A B} (f : A -> list B) l : collect f l [] = flat_map f l.
Proof.
  assert (K : forall found, collect f l found = rev found ++ flat_map f l).
  { induction l as [|a l IH]; simpl; intros found; [rewrite rev_append_rev; reflexivity|].
    rewrite IH, rev_append_rev, rev_app_distr, rev_involutive, app_assoc. reflexivity. }
  apply K.
Qed.

(** ** Kesler's rows *)

(** (x, 1), or x without a bias. *)
Definition extended (f : frame) (x : list (Z * Z)) : list (Z * Z) := if with_bias f then x ++ [(one f, 0%Z)] else x.

Definition block_size (f : frame) : nat := if with_bias f then S (columns f) else columns f.

Definition kesler_block (x : list (Z * Z)) (r : rival) (j : nat) : list (Z * Z) :=
  if (j =? own_class r)%nat then x
  else if (j =? other_class r)%nat then map (fun v => ((- fst v)%Z, snd v)) x
  else map (fun _ => (0, 0)%Z) x.

(** The blocks from one class on. *)
Definition kesler (f : frame) (from count : nat) (r : rival) : point :=
  let x := extended f (rival_values r) in Point true (flat_map (kesler_block x r) (seq from count)).

(** For a margin all blocks count; otherwise the first is spared. *)
Definition joint_frame (f : frame) (k : nat) (c : claim) : frame :=
  let spared := match c with Separable _ _ _ => 0%nat | _ => block_size f end in
  Frame false (one f) (k * block_size f) spared.

Definition kesler_row (f : frame) (k : nat) (c : claim) (r : rival) : row :=
  signed_row false (one f) (match spare (joint_frame f k c) with O => kesler f 0 k r | _ => kesler f 1 (k - 1) r end).

(** ** The check *)

Definition size_of (ms : list (Z * member)) (k : nat) : Z :=
  fold_left (fun n m => if (class_of (snd m) =? k)%nat then n + 1 else n)%Z ms 0%Z.

Section Hints.
Variable null : list (list Z) -> list dependence.
Variable factor : list (list Z) -> Z -> option (list (list Z)).

Definition check_answer (f : frame) (k : nat) (ms : list (Z * member)) (qa : question * option claim) : outcome unit :=
  match snd qa with
  | None => Fine tt
  | Some c =>
      match fst qa with
      | Pair i j => check null factor f c (rows_for f (collect (of_pair i j) ms []))
      | Rest j => check null factor f c (rows_for f (collect (of_rest j) ms []))
      | Joint => check null factor (joint_frame f k c) c (map (fun ir => (fst ir, kesler_row f k c (snd ir))) (collect (of_joint k) ms []))
      end
  end.

(** An answer is None where the question was left open. *)
Definition check_classes (f : frame) (k : nat) (sizes : list Z) (ms : list (Z * member)) (by_ : grouping) (answers : list (option claim)) : outcome unit :=
  let fits m := (class_of (snd m) <? k)%nat && (length (values_of (snd m)) =? columns f)%nat in
  let* _ := require ((0 <? one f)%Z && (spare f =? 0)%nat && forallb fits ms) Unsupported in
  let* _ := need (equal_lists (map (size_of ms) (seq 0 k)) sizes && forallb (fun n => (0 <? n)%Z) sizes) OtherSizes in
  let* _ := require (length answers =? length (questions by_ k))%nat Unsupported in
  each (check_answer f k ms) (combine (questions by_ k) answers).
End Hints.

(** ** What it means *)
Open Scope R_scope.

Definition block (d j : nat) (w : list R) : list R := firstn d (skipn (j * d) w).

(** w_j·(x, 1) *)
Definition class_score (f : frame) (w : list R) (x : list (Z * Z)) (j : nat) : R :=
  dot (map (number (one f)) (extended f x)) (block (block_size f) j w).

Definition excess (f : frame) (r : rival) (w : list R) (b : R) : R :=
  class_score f w (rival_values r) (own_class r) - class_score f w (rival_values r) (other_class r).

Definition holds_answer (f : frame) (k : nat) (ms : list (Z * member)) (q : question) (c : claim) : Prop :=
  match q with
  | Pair i j => holds_of_points f (flat_map (of_pair i j) ms) c
  | Rest j => holds_of_points f (flat_map (of_rest j) ms) c
  | Joint => holds (excess f) (is_hyperplane false (k * block_size f)) (flat_map (of_joint k) ms) c
  end.

(** ** Scores block by block *)

Lemma dot_blocks (g v : nat -> list R) l : (forall j, In j l -> length (g j) = length (v j)) ->
  dot (flat_map g l) (flat_map v l) = total (map (fun j => dot (g j) (v j)) l).
Proof.
  induction l as [|j l IH]; simpl; intros H; [reflexivity|].
  rewrite dot_app by (apply H; left; reflexivity). rewrite IH by auto. reflexivity.
Qed.

Lemma map_flat_map {A B C} (h : B -> C) (g : A -> list B) l : map h (flat_map g l) = flat_map (fun a => map h (g a)) l.
Proof. induction l; simpl; auto. rewrite map_app, IHl. reflexivity. Qed.

Lemma total_one (a : nat -> R) (s : R) c l : NoDup l -> In c l ->
  total (map (fun j => if (j =? c)%nat then s * a j else 0) l) = s * a c.
Proof.
  induction l as [|j l IH]; simpl; intros Hd Hc; [tauto|]. inversion_clear Hd as [|? ? Hj Hl].
  destruct (Nat.eqb_spec j c) as [->|N].
  - assert (E : total (map (fun j => if (j =? c)%nat then s * a j else 0) l) = 0).
    { clear -Hj. induction l as [|j l IH]; simpl in *; [reflexivity|]. destruct (Nat.eqb_spec j c); [tauto|]. rewrite IH by tauto. ring. }
    rewrite E. ring.
  - destruct Hc as [->|Hc]; [congruence|]. rewrite IH by assumption. ring.
Qed.

Lemma total_two (a : nat -> R) c k l : NoDup l -> c <> k -> (In c l \/ a c = 0) -> (In k l \/ a k = 0) ->
  total (map (fun j => if (j =? c)%nat then a j else if (j =? k)%nat then - a j else 0) l) = a c - a k.
Proof.
  intros Hd Hck Hc Hk.
  assert (E : total (map (fun j => if (j =? c)%nat then a j else if (j =? k)%nat then - a j else 0) l)
    = total (map (fun j => if (j =? c)%nat then 1 * a j else 0) l) + total (map (fun j => if (j =? k)%nat then -1 * a j else 0) l)).
  { clear Hd Hc Hk. induction l as [|j l IH]; simpl; [ring|]. rewrite IH.
    destruct (Nat.eqb_spec j c), (Nat.eqb_spec j k); try congruence; ring. }
  assert (Z : forall s x, In x l \/ a x = 0 -> total (map (fun j => if (j =? x)%nat then s * a j else 0) l) = s * a x).
  { intros s x [Hx|Hx]; [apply total_one; assumption|]. rewrite Hx, Rmult_0_r.
    clear -Hx. induction l as [|j l IH]; simpl; [reflexivity|]. rewrite IH.
    destruct (Nat.eqb_spec j x) as [->|]; [rewrite Hx|]; ring. }
  rewrite E, !Z by assumption. ring.
Qed.

Section Kesler.
Variable f : frame.
Variable k : nat.
Hypothesis one_pos : (0 < one f)%Z.
Notation d := (block_size f).

Lemma extended_length x : length x = columns f -> length (extended f x) = d.
Proof. unfold extended, block_size. destruct (with_bias f); rewrite ?app_length; simpl; lia. Qed.

Lemma block_length j w : length w = (k * d)%nat -> (j < k)%nat -> length (block d j w) = d.
Proof. intros H Hj. unfold block. rewrite firstn_length, skipn_length. nia. Qed.

Lemma kesler_block_length x r j : length (kesler_block x r j) = length x.
Proof. unfold kesler_block. destruct (_ =? _)%nat; [|destruct (_ =? _)%nat]; rewrite ?map_length; reflexivity. Qed.

Lemma dot_kesler_block x r j v : own_class r <> other_class r ->
  dot (map (number (one f)) (kesler_block x r j)) v
  = if (j =? own_class r)%nat then dot (map (number (one f)) x) v
    else if (j =? other_class r)%nat then - dot (map (number (one f)) x) v else 0.
Proof.
  intros _. unfold kesler_block. destruct (_ =? _)%nat; [reflexivity|]. destruct (_ =? _)%nat; rewrite map_map.
  - revert v; induction x as [|a x IH]; intros [|b v]; simpl; try ring. rewrite IH. unfold number; simpl. rewrite opp_IZR.
    unfold Rdiv. ring.
  - revert v; induction x as [|a x IH]; intros [|b v]; simpl; try ring. rewrite IH. unfold number; simpl. unfold Rdiv. ring.
Qed.

Lemma blocks_together w : length w = (k * d)%nat -> flat_map (fun j => block d j w) (seq 0 k) = w.
Proof.
  intros H. assert (K : forall n s, length w = ((s + n) * d)%nat -> flat_map (fun j => block d j w) (seq s n) = skipn (s * d) w).
  { induction n as [|n IH]; intros s Hs; simpl.
    - symmetry. apply skipn_all2. nia.
    - rewrite IH by (rewrite Hs; f_equal; lia). unfold block.
      replace (S s * d)%nat with (d + s * d)%nat by (simpl; lia).
      rewrite <- (firstn_skipn d (skipn (s * d) w)) at 2. f_equal.
      clear. revert w. generalize (s * d)%nat as n. generalize d as m. induction n as [|n IH]; intros w; [rewrite Nat.add_0_r; reflexivity|].
      rewrite <- plus_n_Sm. destruct w; [rewrite !skipn_nil; reflexivity|]. simpl. apply IH. }
  rewrite (K k 0%nat) by (simpl; assumption). reflexivity.
Qed.

(** All blocks: the score of Kesler's row is the excess. *)
Theorem excess_is_score r w : own_class r <> other_class r -> (own_class r < k)%nat -> (other_class r < k)%nat ->
  length (rival_values r) = columns f -> length w = (k * d)%nat ->
  side (one f) (kesler f 0 k r) w 0 = excess f r w 0.
Proof.
  intros N Hc Hk Hx Hw. unfold side, sign, kesler; simpl.
  rewrite <- (blocks_together w Hw) at 1. rewrite map_flat_map, dot_blocks.
  - rewrite (map_ext _ _ (fun j => dot_kesler_block (extended f (rival_values r)) r j (block d j w) N)).
    rewrite (total_two (fun j => class_score f w (rival_values r) j)); auto using seq_NoDup.
    + unfold excess. ring.
    + left. apply in_seq. lia.
    + left. apply in_seq. lia.
  - intros j Hj. apply in_seq in Hj. rewrite map_length, kesler_block_length, extended_length, block_length by (assumption || lia). reflexivity.
Qed.

(** The first block taken off from the others. *)
Definition spared (w : list R) : list R := less Rminus (firstn d w) [] (skipn d w).

Fixpoint minus (a b : list R) : list R := match a, b with x :: a', y :: b' => x - y :: minus a' b' | _, _ => [] end.

Lemma dot_minus x a b : length a = length b -> dot x (minus a b) = dot x a - dot x b.
Proof. revert a b; induction x as [|v x IH]; intros [|p a] [|q b] H; simpl in *; try lia; try ring. rewrite IH by lia. ring. Qed.

Lemma minus_length a b : length a = length b -> length (minus a b) = length a.
Proof. revert b; induction a; intros [|q b] H; simpl in *; try lia. f_equal. apply IHa. lia. Qed.

Lemma less_block b rest v w : length v = length rest -> less Rminus b rest (v ++ w) = minus v rest ++ less Rminus b [] w.
Proof. revert rest; induction v as [|x v IH]; intros [|c rest] H; simpl in *; try lia; auto. f_equal. apply IH. lia. Qed.

Lemma less_first b v w : b <> [] -> length v = length b -> less Rminus b [] (v ++ w) = minus v b ++ less Rminus b [] w.
Proof.
  intros N H. destruct b as [|c b]; [congruence|]. destruct v as [|x v]; [discriminate|]. simpl. f_equal.
  apply less_block. simpl in H. lia.
Qed.

Lemma less_blocks b l (g : nat -> list R) : b <> [] -> (forall j, In j l -> length (g j) = length b) ->
  less Rminus b [] (flat_map g l) = flat_map (fun j => minus (g j) b) l.
Proof.
  intros N. induction l as [|j l IH]; simpl; intros H; [reflexivity|].
  rewrite less_first by auto. rewrite IH by auto. reflexivity.
Qed.

Lemma spared_blocks w : (0 < k)%nat -> d <> 0%nat -> length w = (k * d)%nat ->
  spared w = flat_map (fun j => minus (block d j w) (block d 0 w)) (seq 1 (k - 1)).
Proof.
  intros Hk Hd Hw. unfold spared. rewrite <- (blocks_together w Hw) at 2.
  destruct k as [|n] eqn:Ek; [lia|]. cbn [seq flat_map]. replace (S n - 1)%nat with n by lia.
  assert (L : length (block d 0 w) = d) by (unfold block; simpl; rewrite firstn_length; nia).
  rewrite <- L at 2. rewrite skipn_app, skipn_all, Nat.sub_diag. simpl.
  change (firstn d w) with (block d 0 w). apply less_blocks.
  - intros E. rewrite E in L. simpl in L. lia.
  - intros j Hj. apply in_seq in Hj. rewrite L. unfold block. rewrite firstn_length, skipn_length. nia.
Qed.

(** Without the first block: still the excess. *)
Theorem excess_spared r w : own_class r <> other_class r -> (own_class r < k)%nat -> (other_class r < k)%nat ->
  length (rival_values r) = columns f -> d <> 0%nat -> length w = (k * d)%nat ->
  side (one f) (kesler f 1 (k - 1) r) (spared w) 0 = excess f r w 0.
Proof.
  intros N Hc Hk Hx Hd Hw. unfold side, sign, kesler; simpl.
  rewrite spared_blocks by (assumption || lia). rewrite map_flat_map, dot_blocks.
  - rewrite (map_ext _ _ (fun j => dot_kesler_block (extended f (rival_values r)) r j (minus (block d j w) (block d 0 w)) N)).
    assert (B0 : length (block d 0 w) = d) by (apply block_length; auto; lia).
    rewrite (total_two (fun j => dot (map (number (one f)) (extended f (rival_values r))) (minus (block d j w) (block d 0 w)))); auto using seq_NoDup.
    + rewrite !dot_minus by (rewrite !block_length by (assumption || lia); reflexivity). unfold excess, class_score. ring.
    + destruct (own_class r) eqn:E; [right; rewrite dot_minus by reflexivity; ring | left; apply in_seq; lia].
    + destruct (other_class r) eqn:E; [right; rewrite dot_minus by reflexivity; ring | left; apply in_seq; lia].
  - intros j Hj. apply in_seq in Hj.
    assert (B0 : length (block d 0 w) = d) by (apply block_length; auto; lia).
    assert (Bj : length (block d j w) = d) by (apply block_length; auto; lia).
    rewrite map_length, kesler_block_length, extended_length, minus_length by congruence. congruence.
Qed.

Lemma kesler_length from count r : length (rival_values r) = columns f -> length (values (kesler f from count r)) = (count * d)%nat.
Proof.
  intros H. unfold kesler; simpl. revert from; induction count as [|n IH]; intros from; simpl; auto.
  rewrite app_length, kesler_block_length, extended_length, IH by assumption. reflexivity.
Qed.
End Kesler.

Lemma reals_less b rest w : reals (less Z.sub b rest w) = less Rminus (reals b) (reals rest) (reals w).
Proof.
  revert rest; induction w as [|v w IH]; intros [|c rest]; simpl; auto.
  - destruct b as [|c b]; simpl; auto. rewrite IH, minus_IZR. reflexivity.
  - rewrite IH, minus_IZR. reflexivity.
Qed.

Lemma in_joint k ms i r : (forall m, In m ms -> (class_of (snd m) < k)%nat) -> In (i, r) (flat_map (of_joint k) ms) ->
  exists m, In m ms /\ rival_values r = values_of (snd m) /\ own_class r <> other_class r /\ (own_class r < k)%nat /\ (other_class r < k)%nat.
Proof.
  intros Hk H. apply in_flat_map in H as [m [Hm H]]. unfold of_joint in H. apply in_flat_map in H as [j [Hj H]].
  apply in_seq in Hj. destruct (Nat.eqb_spec j (class_of (snd m))) as [|N]; [destruct H|]. destruct H as [H|[]].
  injection H as _ <-. exists m. simpl. repeat split; auto; lia.
Qed.

(** Joint scores. *)
Theorem joint_sound null factor f k c ms :
  (0 < one f)%Z -> (forall m, In m ms -> (class_of (snd m) < k)%nat /\ length (values_of (snd m)) = columns f) ->
  check null factor (joint_frame f k c) c (map (fun ir => (fst ir, kesler_row f k c (snd ir))) (flat_map (of_joint k) ms)) = Fine tt ->
  holds (excess f) (is_hyperplane false (k * block_size f)) (flat_map (of_joint k) ms) c.
Proof.
  intros H1 Hms H. set (rs := flat_map (of_joint k) ms) in *.
  assert (Hr : forall i r, In (i, r) rs -> own_class r <> other_class r /\ (own_class r < k)%nat /\ (other_class r < k)%nat /\ length (rival_values r) = columns f).
  { intros i r Hin. apply in_joint in Hin as [m [Hm [E R]]]; [|intros; apply Hms; assumption]. rewrite E. destruct (Hms m Hm). tauto. }
  set (vec := fun (w : list R) (_ : R) => match spare (joint_frame f k c) with O => w | _ => spared f w end).
  refine (check_means null factor (joint_frame f k c) (kesler_row f k c) (excess f) (is_hyperplane false (k * block_size f)) vec rs H1 _ _ _ c H).
  - intros i r w b Hin [Hw Hb]. destruct (Hr i r Hin) as [N [Hc [Hk Hx]]]. specialize (Hb eq_refl). subst b.
    unfold kesler_row, vec. change (one (joint_frame f k c)) with (one f).
    destruct (spare (joint_frame f k c)) as [|s] eqn:S.
    + rewrite <- (excess_is_score f k r w) by assumption. change w with (weights_of false w 0) at 1.
      apply score_signed_row; auto. split; auto. rewrite (kesler_length f 0 k) by assumption. assumption.
    + assert (Hd : block_size f <> 0%nat) by (unfold joint_frame in S; destruct c; simpl in S; lia).
      rewrite <- (excess_spared f k r w) by assumption. change (spared f w) with (weights_of false (spared f w) 0) at 1.
      apply score_signed_row; auto. split; auto. rewrite (kesler_length f 1 (k - 1)), (spared_blocks f k) by (assumption || lia).
      assert (B : forall j, (j < k)%nat -> length (block (block_size f) j w) = block_size f) by (intros; apply (block_length f k); auto).
      assert (L : forall n s, (s + n <= k)%nat -> (0 < k)%nat ->
        length (flat_map (fun j => minus (block (block_size f) j w) (block (block_size f) 0 w)) (seq s n)) = (n * block_size f)%nat).
      { induction n as [|n IH]; intros m Hm Hp; simpl; auto. rewrite app_length, IH, minus_length, B by (try rewrite !B by lia; lia). reflexivity. }
      apply L; lia.
  - intros w b Hw. simpl in Hw. apply andb_true_iff in Hw as [E1 E2]. apply Nat.eqb_eq in E1. apply Z.eqb_eq in E2. subst b. split.
    + split; [unfold reals; rewrite map_length; assumption | reflexivity].
    + unfold full_weights, vec. simpl with_bias. cbn [integer_weights].
      destruct (spare (joint_frame f k c)) as [|s] eqn:Sp; [reflexivity|].
      assert (E : S s = block_size f) by (unfold joint_frame in Sp; destruct c; simpl in Sp; lia).
      rewrite E, reals_less. unfold spared, reals. rewrite firstn_map, skipn_map. reflexivity.
  - intros E1 S l up w b m Hl Hn Hw Hpos Hm.
    change (one (joint_frame f k c)) with (one f) in E1. change (columns (joint_frame f k c)) with (k * block_size f)%nat in Hn.
    apply (Margin.near false (map (fun ir => kesler f 0 k (snd ir)) rs) (k * block_size f) l up w b m); auto.
    + intros p Hp. apply in_map_iff in Hp as [[i r] [<- Hp]]. apply kesler_length. apply (Hr i r Hp).
    + intros ur Hur. destruct (Hl ur Hur) as [i [r [Hin ->]]]. unfold kesler_row. rewrite S, E1.
      apply in_map. apply (in_map (fun ir => kesler f 0 k (snd ir)) rs (i, r) Hin).
    + intros p Hp. apply in_map_iff in Hp as [[i r] [<- Hin]]. destruct (Hr i r Hin) as [N [Hc [Hk Hx]]].
      destruct Hw as [Hw Hb]. specialize (Hb eq_refl). subst b. simpl snd. rewrite <- E1, (excess_is_score f k r w) by assumption.
      apply (Hm i). assumption.
Qed.

(** Every answer that was checked is true, and the classes are as large as is said. *)
Theorem classes_sound null factor f k sizes ms by_ answers :
  check_classes null factor f k sizes ms by_ answers = Fine tt ->
  (forall q c, In (q, Some c) (combine (questions by_ k) answers) -> holds_answer f k ms q c) /\
  sizes = map (size_of ms) (seq 0 k) /\ Forall (fun n => (0 < n)%Z) sizes.
Proof.
  intros H. unfold check_classes in H. steps H.
  rewrite !andb_true_iff, forallb_forall in E. destruct E as [[H1 S] Hms]. apply Z.ltb_lt in H1. apply Nat.eqb_eq in S.
  apply andb_true_iff in E0 as [E2 E3]. apply equal_lists_eq in E2. rewrite forallb_forall in E3.
  assert (Hm : forall m, In m ms -> (class_of (snd m) < k)%nat /\ length (values_of (snd m)) = columns f).
  { intros m Hin. specialize (Hms m Hin). apply andb_true_iff in Hms as [A B]. apply Nat.ltb_lt in A. apply Nat.eqb_eq in B. auto. }
  split; [|split; [auto | apply Forall_forall; intros n Hn; apply Z.ltb_lt; auto]].
  intros q c Hin. pose proof (each_fine _ _ _ H _ Hin) as C. unfold check_answer in C. simpl in C.
  destruct q as [i j|j|]; rewrite collect_flat_map in C; simpl.
  - eapply check_sound; eassumption.
  - eapply check_sound; eassumption.
  - eapply joint_sound; eassumption.
Qed.
