(** What the checkers of proofs share: answers, numbered rows, and maps from row numbers. *)

From Coq Require Import ZArith List Bool FMapPositive Lia Orders Mergesort Permutation.
From Linsep Require Import Rows.
Import ListNotations.
Open Scope Z_scope.

(** Why a proof is not verified. The numbers are those of rows; the shell has the words. *)
Inductive complaint :=
  | WrongSide (row : Z) | TooNear (row : Z) | AllOnPlane | NoSuchRow (row : Z) | NotCancelling (row : Z)
  | OneClass | NotNearest (row : Z) | OtherSeparated | NotSpanned (row : Z)
  | DependenceFails (row : Z) | AllZero | NotDefinite (row : Z)
  | OtherMistakes | UnequalCopies (row : Z) | NoTree | MistakenRow | OverCost | NotProved
  | BadCombination | BadWeight | BadDependence | BadColumn | OwnColumn | BadCosts | BadCopies | BadUnit | NamesCopy | BadCase | BadCaseObstruction
  | OtherSizes | UnevenLists | Unsupported.

Inductive outcome (A : Type) :=
  | Fine (a : A)
  | Refuted (c : complaint)
  | Bad (c : complaint).
Arguments Fine {A}. Arguments Refuted {A}. Arguments Bad {A}.

Definition bind {A B} (x : outcome A) (f : A -> outcome B) : outcome B :=
  match x with Fine a => f a | Refuted c => Refuted c | Bad c => Bad c end.

Notation "'let*' x ':=' e 'in' f" := (bind e (fun x => f)) (at level 200, x name, e at level 100, f at level 200).

(** Stop unless the condition holds. *)
Definition need (condition : bool) (c : complaint) : outcome unit := if condition then Fine tt else Refuted c.
Definition require (condition : bool) (c : complaint) : outcome unit := if condition then Fine tt else Bad c.

Lemma bind_fine {A B} (x : outcome A) (f : A -> outcome B) b : bind x f = Fine b -> exists a, x = Fine a /\ f a = Fine b.
Proof. destruct x; simpl; intros H; try discriminate. eauto. Qed.

Lemma need_fine c k u : need c k = Fine u -> c = true.
Proof. destruct c; simpl; congruence. Qed.

Lemma require_fine c k u : require c k = Fine u -> c = true.
Proof. destruct c; simpl; congruence. Qed.

(** [steps H] takes a checker apart that came to its end. *)
Ltac steps H :=
  repeat (apply bind_fine in H; let a := fresh "a" in let E := fresh "E" in destruct H as [a [E H]]);
  repeat match goal with
  | E : need _ _ = Fine _ |- _ => apply need_fine in E
  | E : require _ _ = Fine _ |- _ => apply require_fine in E
  end.

(** Every item passes, the first that does not is the answer. *)
Fixpoint each {A} (f : A -> outcome unit) (l : list A) : outcome unit :=
  match l with
  | [] => Fine tt
  | a :: l' => match f a with Fine _ => each f l' | other => other end
  end.

Lemma each_fine {A} (f : A -> outcome unit) l u : each f l = Fine u -> forall a, In a l -> f a = Fine tt.
Proof.
  induction l as [|x l IH]; simpl; [tauto|]. destruct (f x) as [[]| |] eqn:E; try discriminate.
  intros H a [<-|Ha]; auto.
Qed.

(** Maps from numbers 0, 1, 2, ... *)
Module M := PositiveMap.

Definition key (i : Z) : positive := Z.to_pos (i + 1).

Lemma key_inj i j : 0 <= i -> 0 <= j -> key i = key j -> i = j.
Proof. unfold key. intros Hi Hj H. apply (f_equal Zpos) in H. rewrite !Z2Pos.id in H by lia. lia. Qed.

Definition get {A} (i : Z) (m : M.t A) : option A := if 0 <=? i then M.find (key i) m else None.
Definition put {A} (i : Z) (a : A) (m : M.t A) : M.t A := M.add (key i) a m.

Lemma get_empty {A} i : get i (M.empty A) = None.
Proof. unfold get. destruct (0 <=? i); auto. apply M.gempty. Qed.

Lemma get_put_same {A} i (a : A) m : 0 <= i -> get i (put i a m) = Some a.
Proof. intros H. unfold get, put. apply Z.leb_le in H. rewrite H. apply M.gss. Qed.

Lemma get_put_other {A} i j (a : A) m : 0 <= j -> i <> j -> get i (put j a m) = get i m.
Proof.
  intros Hj H. unfold get, put. destruct (0 <=? i) eqn:Hi; auto. apply Z.leb_le in Hi.
  apply M.gso. intros E. apply H, key_inj; auto.
Qed.

(** Things by their number, the first of them [i]. *)
Fixpoint numbered_from {A} (i : Z) (l : list A) (m : M.t A) : M.t A :=
  match l with
  | [] => m
  | a :: l' => numbered_from (i + 1) l' (put i a m)
  end.

Definition numbered {A} (l : list A) : M.t A := numbered_from 0 l (M.empty A).

Lemma get_numbered_from {A} (l : list A) : forall i m j a, 0 <= i ->
  get j (numbered_from i l m) = Some a -> In a l \/ get j m = Some a.
Proof.
  induction l as [|x l IH]; simpl; intros i m j a Hi H; auto.
  apply IH in H as [H|H]; [auto | | lia].
  destruct (Z.eq_dec j i) as [->|N].
  - rewrite get_put_same in H by assumption. injection H; auto.
  - rewrite get_put_other in H by assumption. auto.
Qed.

Lemma get_numbered {A} (l : list A) j a : get j (numbered l) = Some a -> In a l.
Proof. intros H. apply get_numbered_from in H as [H|H]; [auto | rewrite get_empty in H; discriminate | lia]. Qed.

(** Rows with numbers of their own: 0, 1, 2, ... of a whole file, some of these, or others. *)
Definition table {A} (t : list (Z * A)) : M.t A := fold_left (fun m ia => put (fst ia) (snd ia) m) t (M.empty A).

Lemma get_table {A} (t : list (Z * A)) j a : get j (table t) = Some a -> exists i, In (i, a) t.
Proof.
  unfold table. assert (K : forall m, get j (fold_left (fun m ia => put (fst ia) (snd ia) m) t m) = Some a ->
    (exists i, In (i, a) t) \/ exists k, M.find k m = Some a).
  { induction t as [|[i x] t IH]; simpl; intros m H.
    - right. unfold get in H. destruct (0 <=? j); [eauto | discriminate].
    - apply IH in H as [[k H]|[k H]]; [left; eauto|]. unfold put in H.
      destruct (Pos.eq_dec k (key i)) as [->|N].
      + rewrite M.gss in H. injection H as <-. left; eauto.
      + rewrite M.gso in H by assumption. right; eauto. }
  intros H. apply K in H as [H|[k H]]; auto. rewrite M.gempty in H. discriminate.
Qed.

(** Combinations by their rows' numbers. *)
Fixpoint look_up (t : M.t row) (l : list (Z * Z)) : outcome combination :=
  match l with
  | [] => Fine []
  | (i, u) :: l' =>
      match get i t with
      | None => Refuted (NoSuchRow i)
      | Some r => let* rest := look_up t l' in Fine ((u, r) :: rest)
      end
  end.

Lemma look_up_In t l c : look_up (table t) l = Fine c -> forall ur, In ur c -> exists i, In (i, snd ur) t.
Proof.
  revert c; induction l as [|[i u] l IH]; simpl; intros c H; [injection H as <-; simpl; tauto|].
  destruct (get i (table t)) as [r|] eqn:E; [|discriminate].
  apply bind_fine in H as [rest [H1 H2]]. injection H2 as <-.
  intros ur [<-|Hin]; [eapply get_table; eassumption | eapply IH; eassumption].
Qed.

(** Are the numbers different? *)
Fixpoint distinct_from (l : list Z) (m : M.t unit) : bool :=
  match l with
  | [] => true
  | i :: l' => match get i m with Some _ => false | None => distinct_from l' (put i tt m) end
  end.

Definition distinct (l : list Z) : bool := distinct_from l (M.empty unit).

Lemma distinct_from_spec l : forall m, (forall i, In i l -> 0 <= i) -> distinct_from l m = true ->
  NoDup l /\ forall i, In i l -> get i m = None.
Proof.
  induction l as [|x l IH]; simpl; intros m Hn H; [split; [constructor | tauto]|].
  destruct (get x m) eqn:E; [discriminate|]. apply IH in H as [H1 H2]; [|auto]. assert (Hx : 0 <= x) by auto. split.
  - constructor; auto. intros Hin. apply H2 in Hin. rewrite get_put_same in Hin by assumption. discriminate.
  - intros i [<-|Hin]; auto. pose proof (H2 i Hin) as G. destruct (Z.eq_dec i x) as [->|N]; auto.
    rewrite get_put_other in G; auto.
Qed.

(** Rows with positive weights, each row once, and at least one. *)
Fixpoint pairs {A B} (a : list A) (b : list B) : option (list (A * B)) :=
  match a, b with
  | [], [] => Some []
  | x :: a', y :: b' => match pairs a' b' with Some l => Some ((x, y) :: l) | None => None end
  | _, _ => None
  end.

Definition read_combination (rows weights : list Z) : outcome (list (Z * Z)) :=
  match pairs rows weights with
  | None | Some [] => Bad BadCombination
  | Some l =>
      let* _ := require (distinct rows) BadCombination in
      let* _ := require (forallb (fun u => 0 <? u) weights) BadWeight in
      Fine l
  end.

Lemma pairs_snd {A B} (a : list A) : forall (b : list B) l, pairs a b = Some l -> map fst l = a /\ map snd l = b.
Proof.
  induction a as [|x a IH]; intros [|y b] l H; simpl in H; try discriminate; [injection H as <-; auto|].
  destruct (pairs a b) as [l'|] eqn:E; [|discriminate]. injection H as <-. destruct (IH _ _ E). simpl. split; congruence.
Qed.

Lemma read_combination_positive rows weights l t c :
  read_combination rows weights = Fine l -> look_up t l = Fine c -> c <> [] /\ all_positive c = true.
Proof.
  unfold read_combination. destruct (pairs rows weights) as [l0|] eqn:P; [|discriminate].
  intros H. assert (H' : l0 <> [] /\ l = l0 /\ forallb (fun u => 0 <? u) weights = true).
  { destruct l0 as [|p l0]; [discriminate|]. steps H. injection H as <-. repeat split; auto. discriminate. }
  destruct H' as [N [-> W]]. apply pairs_snd in P as [_ P]. rewrite <- P in W. clear -N W.
  intros L. split.
  - destruct l0 as [|[i u] l0]; [congruence|]. simpl in L. destruct (get i t); [|discriminate].
    apply bind_fine in L as [rest [_ L]]. injection L as <-. discriminate.
  - clear N. revert c L; induction l0 as [|[i u] l0 IH]; simpl in *; intros c L; [injection L as <-; reflexivity|].
    destruct (get i t); [|discriminate]. apply bind_fine in L as [rest [L1 L2]]. injection L2 as <-.
    apply andb_true_iff in W as [W1 W2]. simpl. rewrite W1. apply IH; auto.
Qed.

(** The numbers of the rows that pass, in order; written for long tables. *)
Fixpoint places_from {A} (f : A -> bool) (t : list (Z * A)) (found : list Z) : list Z :=
  match t with
  | [] => rev_append found []
  | (i, r) :: t' => places_from f t' (if f r then i :: found else found)
  end.

Definition places {A} (f : A -> bool) (t : list (Z * A)) : list Z := places_from f t [].

(** Row number j passes. *)
Theorem in_places {A} (f : A -> bool) t j : In j (places f t) <-> exists r, In (j, r) t /\ f r = true.
Proof.
  unfold places. assert (K : forall found, In j (places_from f t found) <-> In j found \/ exists r, In (j, r) t /\ f r = true).
  { induction t as [|[i r] t IH]; simpl; intros found.
    - rewrite rev_append_rev, app_nil_r, <- in_rev. split; auto. intros [H|[r [[] _]]]; auto.
    - rewrite IH. split.
      + intros [H|[q [H1 H2]]]; [|eauto 6]. destruct (f r) eqn:F; auto. destruct H as [<-|H]; eauto 6.
      + intros [H|[q [[E|H1] H2]]]; [left; destruct (f r); simpl; auto | | eauto].
        injection E as -> ->. rewrite H2. left; left; reflexivity. }
  rewrite K. simpl. tauto.
Qed.

(** Numbers in order. *)
Module ZOrder <: TotalLeBool.
  Definition t := Z.
  Definition leb := Z.leb.
  Theorem leb_total : forall x y, leb x y = true \/ leb y x = true.
  Proof. intros x y. unfold leb. rewrite !Z.leb_le. lia. Qed.
End ZOrder.
Module ZSort := Sort ZOrder.

Fixpoint equal_lists (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? y) && equal_lists a' b'
  | _, _ => false
  end.

Lemma equal_lists_eq a : forall b, equal_lists a b = true -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b] H; simpl in H; try discriminate; auto.
  apply andb_true_iff in H as [H1 H2]. apply Z.eqb_eq in H1. rewrite (IH b H2). congruence.
Qed.

(** The same numbers, in whatever order the proof has them. *)
Definition are_places (named found : list Z) : bool := equal_lists (ZSort.sort named) found.

Theorem are_places_same named found : are_places named found = true -> Permutation named found.
Proof. intros H. apply equal_lists_eq in H. rewrite <- H. apply ZSort.Permuted_sort. Qed.
