(** A packing of obstructions bounds the mistakes of every hyperplane from below; and so does a tree of cases.

    A mistake is a row with z·w <= 0. Every hyperplane makes one in each obstruction. So if each of some obstructions has a
    multiplier, and for every row the multipliers of the obstructions with it add up to its cost at most, the mistakes of
    every hyperplane cost the sum of the multipliers or more.

    Where that is not enough, cases are told apart: a row is right, or it is mistaken, and so on; the cases are the leaves of a
    tree, so that every hyperplane is in one of them. In a case mistaken rows have their cost, obstructions with one of
    them do not count, rows that are right do not use up their obstructions, and where all rows of an obstruction are right
    there is no such hyperplane. The bound is the least of all cases, rounded up to a whole cost.

    Equal rows are right or mistaken together, and the first of them stands for all.

    The theorems are about any set of mistaken rows that hits every obstruction and tells no equal rows apart. *)

From Coq Require Import ZArith Reals List Bool Lia Lra FMapPositive Permutation.
From Linsep Require Import Vectors Rows Separator Obstruction Tables.
Import ListNotations.
Open Scope Z_scope.

Definition units_of_a_cost : Z := 1048576. (* 2^20 *)

(** What mistakes cost: row number i is mistaken if [f i]. *)
Fixpoint spent (f : Z -> bool) (i : Z) (costs : list Z) : Z :=
  match costs with
  | [] => 0
  | c :: costs' => (if f i then c else 0) + spent f (i + 1) costs'
  end.

(** ** Sums kept by row *)

Definition val (i : Z) (m : M.t Z) : Z := match get i m with Some v => v | None => 0 end.
Definition bump (i u : Z) (m : M.t Z) : M.t Z := put i (u + val i m) m.

Lemma val_bump_same i u m : 0 <= i -> val i (bump i u m) = u + val i m.
Proof. intros H. unfold val at 1, bump. rewrite get_put_same by assumption. reflexivity. Qed.

Lemma val_bump_other i j u m : 0 <= j -> i <> j -> val i (bump j u m) = val i m.
Proof. intros H N. unfold val at 1, bump. rewrite get_put_other by assumption. reflexivity. Qed.

Section Sums.
Variable f : Z -> bool.
Variable idx : list Z.
Hypothesis idx_once : NoDup idx.
Hypothesis idx_nonneg : forall i, In i idx -> 0 <= i.

(** The sum over all mistaken rows. *)
Definition sum (m : M.t Z) : Z := totalZ (map (fun i => if f i then val i m else 0) idx).

Lemma sum_bump j u m : In j idx -> sum (bump j u m) = sum m + (if f j then u else 0).
Proof.
  unfold sum. revert idx_once idx_nonneg. induction idx as [|i l IH]; simpl; [tauto|]. intros Hd Hn Hj.
  inversion_clear Hd as [|? ? Hi Hl]. destruct Hj as [->|Hj].
  - rewrite val_bump_same by auto.
    assert (E : map (fun i => if f i then val i (bump j u m) else 0) l = map (fun i => if f i then val i m else 0) l).
    { apply map_ext_in. intros i Hin. rewrite val_bump_other; auto. intros ->. contradiction. }
    rewrite E. destruct (f j); lia.
  - rewrite IH by auto. assert (i <> j) by (intros ->; contradiction).
    rewrite val_bump_other by auto. lia.
Qed.

Lemma sum_le a b k : 0 <= k -> (forall i, val i a <= k * val i b) -> sum a <= k * sum b.
Proof.
  intros Hk H. unfold sum. clear idx_once idx_nonneg. induction idx as [|i l IH]; simpl; [lia|].
  specialize (H i). destruct (f i); nia.
Qed.

Lemma sum_empty : sum (M.empty Z) = 0.
Proof.
  unfold sum, val. clear. induction idx as [|i l IH]; simpl; auto. rewrite IH, get_empty. destruct (f i); reflexivity.
Qed.
End Sums.

(** ** Equal rows *)

Definition rep (copies : M.t Z) (i : Z) : Z := match get i copies with Some j => j | None => i end.

(** Each row after the first of a group is a copy of the first. *)
Definition copies_of (groups : list (list Z)) : M.t Z :=
  fold_right (fun group m =>
    match group with
    | [] => m
    | first :: others => fold_right (fun i => put i first) m others
    end) (M.empty Z) groups.

Fixpoint merge (copies : M.t Z) (i : Z) (costs : list Z) (m : M.t Z) : M.t Z :=
  match costs with
  | [] => m
  | c :: costs' => merge copies (i + 1) costs' (bump (rep copies i) c m)
  end.

Fixpoint range (i : Z) (costs : list Z) : list Z :=
  match costs with [] => [] | _ :: costs' => i :: range (i + 1) costs' end.

Lemma sum_merge f idx copies :
  NoDup idx -> (forall i, In i idx -> 0 <= i) -> (forall i, f (rep copies i) = f i) ->
  forall costs i m, incl (map (rep copies) (range i costs)) idx ->
  sum f idx (merge copies i costs m) = sum f idx m + spent f i costs.
Proof.
  intros Hd Hn Hf. induction costs as [|c costs IH]; simpl; intros i m Hi; [lia|].
  rewrite IH by (intros x Hx; apply Hi; right; assumption).
  rewrite sum_bump by (auto; apply Hi; left; reflexivity). rewrite Hf. lia.
Qed.

Lemma get_merge copies costs : forall i m j v,
  (forall k, In k (range i costs) -> 0 <= rep copies k) ->
  get j (merge copies i costs m) = Some v -> In j (map (rep copies) (range i costs)) \/ get j m = Some v.
Proof.
  induction costs as [|c costs IH]; simpl; intros i m j v Hn H; auto.
  apply IH in H as [H|H]; auto.
  destruct (Z.eq_dec j (rep copies i)) as [->|N]; auto.
  unfold bump in H. rewrite get_put_other in H by auto. auto.
Qed.

Lemma val_merge_nonneg copies costs : forall i m,
  (forall k, In k (range i costs) -> 0 <= rep copies k) -> forallb (fun c => 0 <=? c) costs = true ->
  (forall j, 0 <= val j m) -> forall j, 0 <= val j (merge copies i costs m).
Proof.
  induction costs as [|c costs IH]; simpl; intros i m Hn Hc Hm j; auto.
  apply andb_true_iff in Hc as [Hc1 Hc2]. apply Z.leb_le in Hc1. apply IH; auto.
  intros k. destruct (Z.eq_dec k (rep copies i)) as [->|N].
  - rewrite val_bump_same by auto. specialize (Hm (rep copies i)). lia.
  - rewrite val_bump_other by auto. auto.
Qed.

(** ** One case *)

Record leaf := Leaf { case_rows : list Z; case_right : list bool; case_obstructions : list Z; case_units : list Z }.

Definition is_some {A} (x : option A) : bool := match x with Some _ => true | None => false end.

Definition case_map (case : list (Z * bool)) : M.t bool := fold_right (fun ib => put (fst ib) (snd ib)) (M.empty bool) case.

(** Mistaken rows have their cost. *)
Fixpoint mistaken_cost (cost : M.t Z) (case : list (Z * bool)) (used : M.t Z) (sum : Z) : M.t Z * Z :=
  match case with
  | [] => (used, sum)
  | (i, is_right) :: case' =>
      if is_right then mistaken_cost cost case' used sum
      else let c := units_of_a_cost * val i cost in mistaken_cost cost case' (bump i c used) (sum + c)
  end.

Definition fits (cost used : M.t Z) : bool :=
  forallb (fun iu => snd iu <=? units_of_a_cost * match M.find (fst iu) cost with Some c => c | None => 0 end) (M.elements used).

Definition bump_all (rows : list Z) (u : Z) (used : M.t Z) : M.t Z := fold_left (fun m i => bump i u m) rows used.

(** What the obstructions of a case add; None if there is no such hyperplane. *)
Fixpoint pack (cost : M.t Z) (found : M.t (list Z)) (case : M.t bool) (ks us : list Z) (used : M.t Z) (sum : Z)
  : outcome (option Z) :=
  match ks, us with
  | [], [] => let* _ := need (fits cost used) OverCost in Fine (Some sum)
  | k :: ks', u :: us' =>
      match get k found with
      | None => Bad BadCaseObstruction
      | Some part =>
          let* _ := require (0 <=? u) BadCaseObstruction in
          let* _ := need (forallb (fun i => match get i case with Some b => b | None => true end) part) MistakenRow in
          let free := filter (fun i => negb (is_some (get i case))) part in
          match free with
          | [] => Fine None
          | _ => pack cost found case ks' us' (bump_all free u used) (sum + u)
          end
      end
  | _, _ => Bad UnevenLists
  end.

Definition cost_of_leaf (cost : M.t Z) (found : M.t (list Z)) (l : leaf) : outcome (option Z) :=
  match pairs (case_rows l) (case_right l) with
  | None => Bad UnevenLists
  | Some case =>
      let* _ := require (forallb (fun i => is_some (get i cost)) (case_rows l) && distinct (case_rows l)) BadCase in
      let '(used, sum) := mistaken_cost cost case (M.empty Z) 0 in
      pack cost found (case_map case) (case_obstructions l) (case_units l) used sum
  end.

Definition agrees (f : Z -> bool) (case : list (Z * bool)) : Prop := forall i b, In (i, b) case -> f i = negb b.

Lemma get_nonneg {A} i (m : M.t A) a : get i m = Some a -> 0 <= i.
Proof. unfold get. destruct (0 <=? i) eqn:E; [|discriminate]. intros _. apply Z.leb_le; assumption. Qed.

Section Leaf.
Variable f : Z -> bool.
Variable cost : M.t Z.
Variable found : M.t (list Z).
Variable idx : list Z.
Hypothesis idx_once : NoDup idx.
Hypothesis idx_nonneg : forall i, In i idx -> 0 <= i.
Hypothesis cost_in_idx : forall i, is_some (get i cost) = true -> In i idx.
Hypothesis cost_nonneg : forall i, 0 <= val i cost.
(** The rows of an obstruction have a cost, and one of them is mistaken. *)
Hypothesis hit : forall k part, get k found = Some part ->
  (forall i, In i part -> is_some (get i cost) = true) /\ exists i, In i part /\ f i = true.

Lemma get_case_map case i b : (forall i b, In (i, b) case -> 0 <= i) -> get i (case_map case) = Some b -> In (i, b) case.
Proof.
  induction case as [|[j c] case IH]; simpl; intros Hn H; [rewrite get_empty in H; discriminate|].
  destruct (Z.eq_dec i j) as [->|N].
  - rewrite get_put_same in H by (eapply Hn; left; reflexivity). injection H as <-. auto.
  - rewrite get_put_other in H by (auto; eapply Hn; left; reflexivity). right. apply IH; eauto.
Qed.

Lemma mistaken_cost_sum case : agrees f case -> (forall i b, In (i, b) case -> In i idx) -> forall used s used' s',
  mistaken_cost cost case used s = (used', s') -> sum f idx used' - s' = sum f idx used - s.
Proof.
  induction case as [|[i b] case IH]; simpl; intros Ha Hi used s used' s' H; [injection H as <- <-; reflexivity|].
  assert (Hf : f i = negb b) by (apply Ha; left; reflexivity).
  destruct b.
  - eapply IH; eauto. intros x c Hx. apply Ha; right; assumption.
  - apply IH in H; [|intros x c Hx; apply Ha; right; assumption | eauto].
    rewrite H, sum_bump, Hf by eauto. simpl. lia.
Qed.

Lemma sum_bump_all rows u : 0 <= u -> (forall i, In i rows -> In i idx) -> forall used,
  sum f idx used <= sum f idx (bump_all rows u used) /\
  ((exists i, In i rows /\ f i = true) -> sum f idx used + u <= sum f idx (bump_all rows u used)).
Proof.
  intros Hu. induction rows as [|i rows IH]; intros Hi used; simpl; [split; [lia | intros [i [[] _]]]|].
  destruct (IH (fun x Hx => Hi x (or_intror Hx)) (bump i u used)) as [A B].
  rewrite sum_bump in A, B by (auto; apply Hi; left; reflexivity).
  unfold bump_all in *. split; [destruct (f i); lia|]. intros [j [[->|Hj] Hf]].
  - rewrite Hf in A. lia.
  - assert (E : exists i, In i rows /\ f i = true) by eauto. apply B in E. destruct (f i); lia.
Qed.

Lemma fits_val used : fits cost used = true -> forall i, val i used <= units_of_a_cost * val i cost.
Proof.
  unfold fits. rewrite forallb_forall. intros H i. specialize (cost_nonneg i). unfold val, get in *.
  destruct (0 <=? i); [|unfold units_of_a_cost; lia].
  destruct (M.find (key i) used) as [v|] eqn:E; [|unfold units_of_a_cost; lia].
  apply M.elements_correct, H, Z.leb_le in E. exact E.
Qed.

Lemma pack_sound case : (forall i b, get i case = Some b -> f i = negb b) -> forall ks us used s r,
  pack cost found case ks us used s = Fine r ->
  exists s', r = Some s' /\ (s <= sum f idx used -> s' <= units_of_a_cost * sum f idx cost).
Proof.
  intros Hcase. induction ks as [|k ks IH]; intros [|u us] used s r H; simpl in H; try discriminate.
  - steps H. injection H as <-. exists s. split; auto. intros Hs.
    apply Z.le_trans with (sum f idx used); auto. apply sum_le; [unfold units_of_a_cost; lia|].
    apply fits_val; assumption.
  - destruct (get k found) as [part|] eqn:Ek; [|discriminate]. steps H. apply Z.leb_le in E.
    destruct (hit k part Ek) as [Hp [j [Hj Hfj]]]. rewrite forallb_forall in E0.
    assert (Hfree : In j (filter (fun i => negb (is_some (get i case))) part)).
    { apply filter_In. split; auto. specialize (E0 j Hj). destruct (get j case) as [b|] eqn:Eb; auto.
      apply Hcase in Eb. rewrite E0, Hfj in Eb. discriminate. }
    assert (Hsub : forall i, In i (filter (fun i => negb (is_some (get i case))) part) -> In i idx).
    { intros i Hin. apply filter_In in Hin as [Hin _]. auto. }
    destruct (filter (fun i => negb (is_some (get i case))) part) as [|x free]; [contradiction|].
    apply IH in H as [s' [-> H]]. exists s'. split; auto. intros Hs. apply H.
    destruct (sum_bump_all (x :: free) u E Hsub used) as [_ B].
    assert (X : exists i, In i (x :: free) /\ f i = true) by eauto. apply B in X. lia.
Qed.
End Leaf.

(** ** All cases *)

Definition tails (side : bool) (paths : list (list (Z * bool))) : list (list (Z * bool)) :=
  fold_right (fun path rest =>
    match path with
    | (_, b) :: path' => if eqb b side then path' :: rest else rest
    | [] => rest
    end) [] paths.

(** The cases are the leaves of a tree: at each node one row is right or mistaken. *)
Fixpoint all_cases (depth : nat) (paths : list (list (Z * bool))) : bool :=
  match depth with
  | O => false
  | S depth' =>
      match paths with
      | [[]] => true
      | ((i, _) :: _) :: _ =>
          forallb (fun path => match path with (j, _) :: _ => i =? j | [] => false end) paths
          && all_cases depth' (tails true paths) && all_cases depth' (tails false paths)
      | _ => false
      end
  end.

Lemma in_tails side paths path : In path (tails side paths) -> exists i, In ((i, side) :: path) paths.
Proof.
  induction paths as [|[|[i b] p] paths IH]; simpl; [tauto| |].
  - intros H. destruct (IH H) as [i Hi]. eauto.
  - destruct (eqb b side) eqn:E.
    + apply eqb_prop in E. subst b. intros [->|H]; [eauto|]. destruct (IH H) as [k Hk]. eauto.
    + intros H. destruct (IH H) as [k Hk]. eauto.
Qed.

Theorem some_case f depth : forall paths, all_cases depth paths = true -> exists path, In path paths /\ agrees f path.
Proof.
  induction depth as [|depth IH]; intros paths H; [discriminate|]. simpl in H.
  destruct paths as [|[|[i b] p] paths]; [discriminate| |].
  - destruct paths; [|discriminate]. exists []. split; [left; reflexivity | intros i b []].
  - set (all := ((i, b) :: p) :: paths) in *. rewrite !andb_true_iff, forallb_forall in H. destruct H as [[H1 H2] H3].
    assert (T : all_cases depth (tails (negb (f i)) all) = true) by (destruct (f i); assumption).
    destruct (IH _ T) as [path [Hin Ha]]. apply in_tails in Hin as [j Hj].
    pose proof (H1 _ Hj) as Ej. simpl in Ej. apply Z.eqb_eq in Ej. subst j.
    exists ((i, negb (f i)) :: path). split; auto. intros k c [E|Hk]; [|apply Ha; assumption].
    injection E as <- <-. rewrite negb_involutive. reflexivity.
Qed.

(** ** The bound *)

Fixpoint bounds (cost : M.t Z) (found : M.t (list Z)) (leaves : list leaf) : outcome (list Z) :=
  match leaves with
  | [] => Fine []
  | l :: leaves' =>
      let* b := cost_of_leaf cost found l in
      let* rest := bounds cost found leaves' in
      Fine (match b with Some x => x :: rest | None => rest end)
  end.

Definition least_of (l : list Z) : Z := match l with [] => 0 | x :: l' => fold_left Z.min l' x end.

Definition ceiling (a b : Z) : Z := - (- a / b).

Definition proves (totals : list Z) (least : Z) : bool :=
  match totals with [] => false | _ => least <=? ceiling (least_of totals) units_of_a_cost end.

Fixpoint read_paths (leaves : list leaf) : outcome (list (list (Z * bool))) :=
  match leaves with
  | [] => Fine []
  | l :: leaves' =>
      match pairs (case_rows l) (case_right l) with
      | None => Bad UnevenLists
      | Some path => let* rest := read_paths leaves' in Fine (path :: rest)
      end
  end.

Definition depth_of (paths : list (list (Z * bool))) : nat := S (fold_left (fun n path => Nat.max n (length path)) paths 0%nat).

(** The part of the check that is about the obstructions, given as lists of row numbers, and the costs of all but copies. *)
Definition check_bound (cost : M.t Z) (parts : list (list Z)) (leaves : list leaf) (least : Z) : outcome unit :=
  let* paths := read_paths leaves in
  let* _ := need (all_cases (depth_of paths) paths) NoTree in
  let* totals := bounds cost (numbered parts) leaves in
  need (proves totals least) NotProved.

Lemma in_read_paths leaves : forall paths path, read_paths leaves = Fine paths -> In path paths ->
  exists l, In l leaves /\ pairs (case_rows l) (case_right l) = Some path.
Proof.
  induction leaves as [|l leaves IH]; simpl; intros paths path H Hin; [injection H as <-; destruct Hin|].
  destruct (pairs (case_rows l) (case_right l)) as [p|] eqn:E; [|discriminate]. steps H. injection H as <-.
  destruct Hin as [<-|Hin]; [eauto|]. destruct (IH _ _ E0 Hin) as [x [Hx Ex]]. eauto.
Qed.

Lemma in_bounds cost found leaves : forall totals l, bounds cost found leaves = Fine totals -> In l leaves ->
  exists b, cost_of_leaf cost found l = Fine b /\ forall x, b = Some x -> In x totals.
Proof.
  induction leaves as [|k leaves IH]; simpl; intros totals l H Hin; [destruct Hin|]. steps H. injection H as <-.
  destruct Hin as [<-|Hin].
  - exists a. split; auto. intros x ->. left; reflexivity.
  - destruct (IH _ _ E0 Hin) as [b [E1 E2]]. exists b. split; auto. intros x Hx. destruct a; simpl; auto.
Qed.

Lemma fold_min l : forall x, fold_left Z.min l x <= x /\ forall y, In y l -> fold_left Z.min l x <= y.
Proof.
  induction l as [|z l IH]; simpl; intros x; [split; [lia | tauto]|]. destruct (IH (Z.min x z)) as [A B].
  split; [lia|]. intros y [<-|Hy]; [lia | auto].
Qed.

Lemma least_of_le l x : In x l -> least_of l <= x.
Proof. destruct l as [|y l]; simpl; [tauto|]. destruct (fold_min l y) as [A B]. intros [<-|C]; auto. Qed.

Lemma ceiling_le a b c : 0 < b -> a <= b * c -> ceiling a b <= c.
Proof. intros Hb H. unfold ceiling. assert (- c <= - a / b) by (apply Z.div_le_lower_bound; lia). lia. Qed.

Theorem bound_sound f cost idx parts leaves least :
  NoDup idx -> (forall i, In i idx -> 0 <= i) -> (forall i, is_some (get i cost) = true -> In i idx) -> (forall i, 0 <= val i cost) ->
  (forall part, In part parts -> (forall i, In i part -> is_some (get i cost) = true) /\ exists i, In i part /\ f i = true) ->
  check_bound cost parts leaves least = Fine tt -> least <= sum f idx cost.
Proof.
  intros Hd Hn Hi Hc Hit H. unfold check_bound in H. steps H.
  destruct (some_case f _ _ E0) as [path [Hin Ha]].
  destruct (in_read_paths _ _ _ E Hin) as [l [Hl El]].
  destruct (in_bounds _ _ _ _ _ E1 Hl) as [b [Eb Hb]].
  unfold cost_of_leaf in Eb. rewrite El in Eb. steps Eb.
  destruct (mistaken_cost cost path (M.empty Z) 0) as [used s] eqn:Em.
  apply andb_true_iff in E2 as [E2 _]. rewrite forallb_forall in E2.
  apply pairs_snd in El as [El _].
  assert (Hpath : forall i b, In (i, b) path -> is_some (get i cost) = true).
  { intros i c Hic. apply E2. rewrite <- El. apply (in_map fst path (i, c)); assumption. }
  apply (pack_sound f cost (numbered parts) idx) in Eb as [s' [-> Hs]]; auto.
  - assert (S : s' <= units_of_a_cost * sum f idx cost).
    { apply Hs. apply (mistaken_cost_sum f cost idx) in Em; eauto. rewrite sum_empty in Em. lia. }
    specialize (Hb s' eq_refl). unfold proves in H. destruct a1 as [|y a1]; [destruct Hb|]. apply Z.leb_le in H.
    apply Z.le_trans with (1 := H). apply ceiling_le; [unfold units_of_a_cost; lia|].
    apply Z.le_trans with s'; auto. apply least_of_le; assumption.
  - intros k part Hk. apply Hit. eapply get_numbered; eassumption.
  - intros i c Hic. apply get_case_map in Hic; [apply Ha; assumption|].
    intros j e Hje. apply Hn, Hi. eauto.
Qed.

(** ** The whole check *)

Definition equal_rows (a b : row) : bool := equal_lists (entries a) (entries b) && (shift a =? shift b).

Definition check_copies (t : M.t row) (group : list Z) : outcome unit :=
  match group with
  | [] => Fine tt
  | first :: others =>
      match get first t with
      | None => Refuted (NoSuchRow first)
      | Some r => need (forallb (fun i => match get i t with Some s => equal_rows s r | None => false end) others) (UnequalCopies first)
      end
  end.

(** The rows of an obstruction, none of them a copy, cancel. *)
Definition check_part (t : M.t row) (cost : M.t Z) (part : list (Z * Z)) : outcome unit :=
  let* _ := require (forallb (fun iu => is_some (get (fst iu) cost)) part) NamesCopy in
  let* c := look_up t part in
  need (cancels c) (NotCancelling (least_of (map fst part))).

Fixpoint read_parts (written : list (list Z * list Z)) : outcome (list (list (Z * Z))) :=
  match written with
  | [] => Fine []
  | (rows, weights) :: written' =>
      let* part := read_combination rows weights in
      let* rest := read_parts written' in
      Fine (part :: rest)
  end.

Definition is_long (group : list Z) : bool := match group with _ :: _ :: _ => true | _ => false end.

(** Obstructions of another kind, such as the positive-definite ones: rows with positive weights, and what is checked of them. *)
Section Others.
Variable other : Type.
Variable rows_of_other : other -> list Z * list Z.
Variable check_other : other -> list (Z * Z) -> combination -> outcome unit.

Definition check_other_part (t : M.t row) (cost : M.t Z) (op : other * list (Z * Z)) : outcome unit :=
  let* _ := require (forallb (fun iu => is_some (get (fst iu) cost)) (snd op)) NamesCopy in
  let* c := look_up t (snd op) in
  check_other (fst op) (snd op) c.

(** [t] are the rows, [is_unit] whether the unit is 1 or there are costs, [wrong] the rows that the separator is wrong about. *)
Definition check_mistakes (t : list row) (costs : list Z) (is_unit : bool) (mistaken wrong : list Z)
    (copies : list (list Z)) (written : list (list Z * list Z)) (extra : list other) (leaves : list leaf) (least : Z) : outcome unit :=
  let rows := numbered t in
  let* _ := require ((length costs =? length t)%nat && forallb (fun c => 0 <=? c) costs) BadCosts in
  let* _ := need (are_places mistaken wrong) OtherMistakes in
  let* _ := require (distinct (concat copies) && forallb is_long copies) BadCopies in
  let* _ := require is_unit BadUnit in
  let* _ := each (check_copies rows) copies in
  let cost := merge (copies_of copies) 0 costs (M.empty Z) in
  let* parts := read_parts written in
  let* more := read_parts (map rows_of_other extra) in
  let* _ := each (check_part rows cost) parts in
  let* _ := each (check_other_part rows cost) (combine extra more) in
  check_bound cost (map (map fst) (parts ++ more)) leaves least.

(** What the mistakes of w cost. *)
Definition cost_of_mistakes (t : list row) (costs : list Z) (w : list R) : Z :=
  totalZ (map (fun rc => if Rlt_dec 0 (score (fst rc) w) then 0 else snd rc) (combine t costs)).

Definition is_mistaken (t : M.t row) (w : list R) (i : Z) : bool :=
  match get i t with
  | Some r => if Rlt_dec 0 (score r w) then false else true
  | None => false
  end.

Lemma get_numbered_below (t : list row) : forall i m j, 0 <= i -> j < i -> get j (numbered_from i t m) = get j m.
Proof.
  induction t as [|r t IH]; simpl; intros i m j Hi Hj; auto.
  rewrite IH, get_put_other by lia. reflexivity.
Qed.

Lemma spent_cost (w : list R) (t : list row) : forall costs i m, 0 <= i -> (length costs = length t)%nat ->
  spent (is_mistaken (numbered_from i t m) w) i costs
  = totalZ (map (fun rc => if Rlt_dec 0 (score (fst rc) w) then 0 else snd rc) (combine t costs)).
Proof.
  induction t as [|r t IH]; intros [|c costs] i m Hi Hl; simpl in *; try discriminate; auto.
  rewrite IH by lia. f_equal. unfold is_mistaken. rewrite get_numbered_below, get_put_same by lia.
  destruct (Rlt_dec 0 (score r w)); reflexivity.
Qed.

Lemma in_copies_of groups i j : (forall g x, In g groups -> In x g -> 0 <= x) ->
  get i (copies_of groups) = Some j -> exists others, In (j :: others) groups /\ In i others.
Proof.
  induction groups as [|g groups IH]; simpl; intros Hn H; [rewrite get_empty in H; discriminate|].
  assert (IH' : get i (copies_of groups) = Some j -> exists others, (g = j :: others \/ In (j :: others) groups) /\ In i others).
  { intros H'. destruct IH as [o [A B]]; eauto. }
  destruct g as [|first others]; [auto|].
  assert (K : In i others /\ first = j \/ get i (copies_of groups) = Some j).
  { assert (No : forall x, In x others -> 0 <= x) by (intros x Hx; apply (Hn (first :: others)); [left | right]; auto).
    clear -H No. fold (copies_of groups) in H. induction others as [|x others IHo]; simpl in *; auto.
    destruct (Z.eq_dec i x) as [->|N].
    - rewrite get_put_same in H by auto. injection H as <-. auto.
    - rewrite get_put_other in H by auto. destruct IHo as [[A B]|A]; auto. }
  destruct K as [[A ->]|A]; eauto.
Qed.

Lemma equal_rows_eq a b : equal_rows a b = true -> a = b.
Proof.
  unfold equal_rows. intros H. apply andb_true_iff in H as [H1 H2]. apply equal_lists_eq in H1. apply Z.eqb_eq in H2.
  destruct a, b; simpl in *; congruence.
Qed.

Lemma in_range costs : forall i k, In k (range i costs) -> i <= k.
Proof. induction costs as [|c costs IH]; simpl; [tauto|]. intros i k [<-|H]; [lia|]. apply IH in H. lia. Qed.

Lemma in_read_parts written : forall parts part, read_parts written = Fine parts -> In part parts ->
  exists rows weights, read_combination rows weights = Fine part.
Proof.
  induction written as [|[r u] written IH]; simpl; intros parts part H Hin; [injection H as <-; destruct Hin|].
  steps H. injection H as <-. destruct Hin as [<-|Hin]; eauto.
Qed.

(** Rows that cannot all be on their sides have a mistaken one among them, whatever the hyperplane. *)
Lemma obstruction_hit t part c w :
  look_up t part = Fine c -> ~ (forall ur, In ur c -> (0 < score (snd ur) w)%R) ->
  exists i, In i (map fst part) /\ is_mistaken t w i = true.
Proof.
  intros L N. destruct (existsb (is_mistaken t w) (map fst part)) eqn:E.
  - apply existsb_exists in E as [i [A B]]. eauto.
  - exfalso. apply N. clear -L E. revert c L; induction part as [|[i u] part IH]; simpl in *; intros c L; [injection L as <-; intros ur []|].
    apply orb_false_iff in E as [E1 E2]. unfold is_mistaken in E1.
    destruct (get i t) as [r|]; [|discriminate]. apply bind_fine in L as [rest [L1 L2]]. injection L2 as <-.
    intros ur [<-|Hin]; [|eapply IH; eassumption]. simpl. destruct (Rlt_dec 0 (score r w)); [assumption | discriminate].
Qed.

Lemma never_all_right rows weights t part c w :
  read_combination rows weights = Fine part -> look_up t part = Fine c -> cancels c = true ->
  ~ (forall ur, In ur c -> (0 < score (snd ur) w)%R).
Proof.
  intros R L C. destruct (read_combination_positive _ _ _ _ _ R L) as [N P]. apply obstruction.
  unfold is_obstruction. rewrite P, C. destruct c; [congruence | reflexivity].
Qed.

Lemma in_combine_others others : forall more part, read_parts (map rows_of_other others) = Fine more -> In part more ->
  exists o, In (o, part) (combine others more) /\ read_combination (fst (rows_of_other o)) (snd (rows_of_other o)) = Fine part.
Proof.
  induction others as [|o others IH]; simpl; intros more part H Hin; [injection H as <-; destruct Hin|].
  destruct (rows_of_other o) as [r u] eqn:E. steps H. injection H as <-. simpl. destruct Hin as [<-|Hin].
  - exists o. rewrite E. auto.
  - destruct (IH _ _ E1 Hin) as [o' [A B]]. eauto.
Qed.

(** What passes has a mistaken row. *)
Hypothesis other_hits : forall o part c w rows weights,
  read_combination rows weights = Fine part -> c <> [] -> check_other o part c = Fine tt -> ~ (forall ur, In ur c -> (0 < score (snd ur) w)%R).

(** Every hyperplane's mistakes cost at least as much as the bound says. *)
Theorem mistakes t costs is_unit mistaken wrong copies written extra leaves least w :
  check_mistakes t costs is_unit mistaken wrong copies written extra leaves least = Fine tt ->
  least <= cost_of_mistakes t costs w.
Proof.
  intros H. unfold check_mistakes in H. steps H.
  apply andb_true_iff in E as [El Ec]. apply Nat.eqb_eq in El.
  apply andb_true_iff in E1 as [_ E1]. rewrite forallb_forall in E1.
  set (rows := numbered t) in *. set (f := is_mistaken rows w).
  set (reps := copies_of copies) in *. set (cost := merge reps 0 costs (M.empty Z)) in *.
  pose proof (each_fine _ _ _ E3) as G. pose proof (each_fine _ _ _ E6) as P. pose proof (each_fine _ _ _ E7) as Q. clear E3 E6 E7.
  assert (Gn : forall g x, In g copies -> In x g -> exists r first others,
    g = first :: others /\ get first rows = Some r /\ get x rows = Some r).
  { intros g x Hg Hx. specialize (G g Hg). destruct g as [|first others]; [destruct Hx|]. simpl in G.
    destruct (get first rows) as [r|] eqn:Er; [|discriminate]. apply need_fine in G. rewrite forallb_forall in G.
    exists r, first, others. repeat split; auto. destruct Hx as [<-|Hx]; auto.
    apply G in Hx. destruct (get x rows) as [q|]; [|discriminate]. apply equal_rows_eq in Hx. congruence. }
  assert (Gp : forall g x, In g copies -> In x g -> 0 <= x).
  { intros g x Hg Hx. destruct (Gn g x Hg Hx) as [r [first [others [_ [_ A]]]]]. eapply get_nonneg; eassumption. }
  assert (Rf : forall i, f (rep reps i) = f i).
  { intros i. unfold rep. destruct (get i reps) as [j|] eqn:Ej; auto.
    apply in_copies_of in Ej as [others [A B]]; auto.
    destruct (Gn _ i A (or_intror B)) as [r [first [o [A1 [A2 A3]]]]]. injection A1 as <- <-.
    unfold f, is_mistaken. rewrite A2, A3. reflexivity. }
  assert (Rn : forall k, In k (range 0 costs) -> 0 <= rep reps k).
  { intros k Hk. apply in_range in Hk. unfold rep. destruct (get k reps) as [j|] eqn:Ej; auto.
    apply in_copies_of in Ej as [others [A B]]; auto. eapply Gp; [exact A | left; reflexivity]. }
  set (idx := nodup Z.eq_dec (map (rep reps) (range 0 costs))).
  assert (In_idx : forall i, In i idx <-> In i (map (rep reps) (range 0 costs))) by (intros; apply nodup_In).
  assert (Hd : NoDup idx) by apply NoDup_nodup.
  assert (Hn : forall i, In i idx -> 0 <= i).
  { intros i Hi. apply In_idx, in_map_iff in Hi as [k [<- Hk]]. auto. }
  assert (S : sum f idx cost = cost_of_mistakes t costs w).
  { unfold cost. rewrite sum_merge; auto.
    - rewrite sum_empty. simpl. unfold f, rows, cost_of_mistakes. apply spent_cost; auto; lia.
    - intros i Hi. apply In_idx; assumption. }
  rewrite <- S. apply (bound_sound f cost idx (map (map fst) (a4 ++ a5)) leaves least); auto.
  - intros i Hi. unfold cost in Hi. destruct (get i (merge reps 0 costs (M.empty Z))) as [v|] eqn:Ev; [|discriminate].
    apply get_merge in Ev as [Ev|Ev]; auto; [apply In_idx; assumption | rewrite get_empty in Ev; discriminate].
  - unfold cost. apply val_merge_nonneg; auto. intros j. unfold val. rewrite get_empty. lia.
  - intros part Hpart. apply in_map_iff in Hpart as [p [<- Hp]]. apply in_app_or in Hp as [Hp|Hp].
    + specialize (P p Hp). unfold check_part in P. steps P. rewrite forallb_forall in E. split.
      * intros i Hi. apply in_map_iff in Hi as [iu [<- Hi]]. apply E; assumption.
      * destruct (in_read_parts _ _ _ E4 Hp) as [rw [us R]]. eapply obstruction_hit; [|eapply never_all_right]; eassumption.
    + destruct (in_combine_others _ _ _ E5 Hp) as [o [Ho R]]. specialize (Q _ Ho). unfold check_other_part in Q. simpl in Q. steps Q.
      rewrite forallb_forall in E. split.
      * intros i Hi. apply in_map_iff in Hi as [iu [<- Hi]]. apply E; assumption.
      * destruct (read_combination_positive _ _ _ _ _ R E3) as [N _]. eapply obstruction_hit; eauto.
  - unfold check_bound, bind, need. rewrite E8, E9, E10, H. reflexivity.
Qed.
End Others.
