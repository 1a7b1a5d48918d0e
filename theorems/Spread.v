(** A spread forces every weak separator to vanish on all rows that it spans.

    A weak separator is a w with z·w >= 0 for every row. On a spread, rows with Σ u z = 0 and u > 0, it is 0; hence it is 0 on
    every row in their span. If that is every row, no weak separator separates anything: the classes overlap. If it is
    every row but those that some weak separator w0 puts strictly on their sides, no other puts more there.

    How a row is known to be in the span. A dependence v has v·z = 0 on the spread, and a column of its own, where it is not 0
    and no later dependence is anything but 0. If the spread has full rank in the columns that are left, modulo a
    prime, then the span is what all dependences vanish on. Where the dependences come from does not matter. *)

From Coq Require Import ZArith Reals List Bool Arith Lia Lra.
From Linsep Require Import Vectors Rows Obstruction.
Import ListNotations.
Open Scope R_scope.

(** ** Columns *)

Fixpoint pick {A} (mask : list bool) (l : list A) : list A :=
  match mask, l with
  | m :: mask', x :: l' => if m then x :: pick mask' l' else pick mask' l'
  | _, _ => []
  end.

Lemma dot_pick mask z w :
  (forall j, nth j mask false = false -> nth j z 0 * nth j w 0 = 0) -> dot z w = dot (pick mask z) (pick mask w).
Proof.
  revert z w; induction mask as [|m mask IH]; intros z w H.
  - simpl. clear -H. revert w H; induction z as [|x z IHz]; intros [|y w] H; simpl; auto.
    rewrite IHz by (intros j _; apply (H (S j)); destruct j; reflexivity).
    pose proof (H 0%nat eq_refl) as E; simpl in E. lra.
  - destruct z as [|x z]; [reflexivity|]. destruct w as [|y w]; [rewrite !dot_nil_r; reflexivity|].
    simpl. rewrite (IH z w) by (intros j Hj; apply (H (S j) Hj)).
    destruct m; simpl; [reflexivity|]. pose proof (H 0%nat eq_refl) as E; simpl in E. lra.
Qed.

Lemma pick_reals mask z : pick mask (reals z) = reals (pick mask z).
Proof. revert z; induction mask as [|[] mask IH]; intros [|x z]; simpl; auto. rewrite IH; reflexivity. Qed.

Lemma nth_reals j z : nth j (reals z) 0 = IZR (nth j z 0%Z).
Proof. apply (map_nth IZR z 0%Z j). Qed.

Lemma nth_add j a b : nth j (add a b) 0 = nth j a 0 + nth j b 0.
Proof. revert j b; induction a; intros [|j] [|y b]; simpl; try ring. apply IHa. Qed.

Lemma nth_scale j c a : nth j (scale c a) 0 = c * nth j a 0.
Proof. rewrite <- (map_nth (Rmult c)). f_equal. ring. Qed.

(** Which columns are not 0 on all rows. *)
Fixpoint either (a b : list bool) : list bool :=
  match a, b with
  | x :: a', y :: b' => (x || y) :: either a' b'
  | [], _ => b
  | _, [] => a
  end.

Definition occupied (rows : list (list Z)) : list bool :=
  fold_right (fun z => either (map (fun v => negb (v =? 0)%Z) z)) [] rows.

Lemma nth_either j a b : nth j (either a b) false = nth j a false || nth j b false.
Proof. revert j b; induction a; intros [|j] [|y b]; simpl; auto using orb_false_r. Qed.

Lemma occupied_zero j rows z : In z rows -> nth j (occupied rows) false = false -> nth j z 0%Z = 0%Z.
Proof.
  induction rows as [|r rows IH]; simpl; [tauto|]. rewrite nth_either. intros Hin H. apply orb_false_elim in H as [H1 H2].
  destruct Hin as [->|Hin]; auto. clear -H1. revert j H1; induction z as [|x z IHz]; intros [|j] H; simpl in *; auto.
  apply negb_false_iff, Z.eqb_eq in H. assumption.
Qed.

(** Is the row 0 in all other columns? *)
Fixpoint inside (mask : list bool) (z : list Z) : bool :=
  match mask, z with
  | m :: mask', v :: z' => (m || (v =? 0)%Z) && inside mask' z'
  | [], _ => forallb (Z.eqb 0) z
  | _, [] => true
  end.

Lemma inside_zero j mask z : inside mask z = true -> nth j mask false = false -> nth j z 0%Z = 0%Z.
Proof.
  revert j z; induction mask as [|m mask IH]; intros j z H Hm.
  - simpl in H. rewrite forallb_forall in H. destruct (nth_in_or_default j z 0%Z) as [E|E]; auto.
    apply H, Z.eqb_eq in E. auto.
  - destruct z as [|v z]; [destruct j; reflexivity|]. simpl in H. apply andb_true_iff in H as [H1 H2].
    destruct j; simpl in *; [subst m; apply Z.eqb_eq; assumption | eauto].
Qed.

(** ** Dependences *)

Record dependence := Dependence { own : nat; form : list Z }.

Fixpoint is_chain (deps : list dependence) : bool :=
  match deps with
  | [] => true
  | d :: later =>
      negb (nth (own d) (form d) 0 =? 0)%Z && forallb (fun e => (nth (own d) (form e) 0 =? 0)%Z) later && is_chain later
  end.

Definition vanish (deps : list dependence) (z : list Z) : bool := forallb (fun d => (dotZ z (form d) =? 0)%Z) deps.

(** Every w may be replaced by one that is 0 in the own columns and has the same products with all rows on which the dependences vanish. *)
Lemma without_own_columns deps :
  is_chain deps = true -> forall w, exists w',
  (forall z, vanish deps z = true -> dot (reals z) w' = dot (reals z) w) /\
  (forall d, In d deps -> nth (own d) w' 0 = 0) /\
  (forall j, (forall d, In d deps -> nth j (form d) 0%Z = 0%Z) -> nth j w' 0 = nth j w 0).
Proof.
  induction deps as [|d deps IH]; intros Hc w.
  - exists w. repeat split; auto. intros d [].
  - simpl in Hc. rewrite !andb_true_iff in Hc. destruct Hc as [[H0 H1] H2].
    apply negb_true_iff, Z.eqb_neq in H0. rewrite forallb_forall in H1.
    set (v := reals (form d)). assert (Hv : nth (own d) v 0 <> 0).
    { unfold v. rewrite nth_reals. apply not_0_IZR; assumption. }
    set (w1 := add w (scale (- (nth (own d) w 0 / nth (own d) v 0)) v)).
    destruct (IH H2 w1) as [w' [A [B C]]]. exists w'. repeat split.
    + intros z Hz. simpl in Hz. apply andb_true_iff in Hz as [Hz1 Hz2]. rewrite (A z Hz2).
      unfold w1. rewrite dot_add_r, dot_scale_r. unfold v. rewrite dot_reals.
      apply Z.eqb_eq in Hz1. rewrite Hz1. ring.
    + intros e [<-|He]; auto. rewrite C.
      * unfold w1. rewrite nth_add, nth_scale. field; assumption.
      * intros e He. apply Z.eqb_eq, H1, He.
    + intros j Hj. rewrite C by (intros; apply Hj; right; assumption).
      unfold w1. rewrite nth_add, nth_scale. unfold v. rewrite (nth_reals j), (Hj d) by (left; reflexivity). ring.
Qed.

(** The columns that are left: not 0 on all rows, and no dependence's own. *)
Fixpoint strike (j : nat) (mask : list bool) (owns : list nat) : list bool :=
  match mask with
  | [] => []
  | m :: mask' => (m && negb (existsb (Nat.eqb j) owns)) :: strike (S j) mask' owns
  end.

Lemma nth_strike owns mask : forall j i,
  nth i (strike j mask owns) false = false -> nth i mask false = false \/ In (j + i)%nat owns.
Proof.
  induction mask as [|m mask IH]; intros j [|i] H; simpl in *; auto.
  - apply andb_false_iff in H as [H|H]; auto. right. apply negb_false_iff, existsb_exists in H as [k [Hk E]].
    apply Nat.eqb_eq in E. subst k. rewrite Nat.add_0_r. assumption.
  - apply IH in H as [H|H]; auto. right. rewrite <- plus_n_Sm. exact H.
Qed.

Definition kept (rows : list (list Z)) (deps : list dependence) : list bool := strike 0 (occupied rows) (map own deps).

(** Is this row in the span, as far as these dependences tell? *)
Definition is_spanned (rows : list (list Z)) (deps : list dependence) (z : list Z) : bool :=
  inside (occupied rows) z && vanish deps z.

(** If nothing but 0 passes in the columns that are left, what passes is 0 on every row of the span.
    What it is to pass is left open: to be nowhere negative on the rows, or to be 0 on them. *)
Theorem span (sign : R -> Prop) rows deps :
  is_chain deps = true -> forallb (vanish deps) rows = true ->
  (forall w, (forall z, In z rows -> sign (dot (reals (pick (kept rows deps) z)) w)) -> (length w <= length (pick (kept rows deps) (kept rows deps)))%nat ->
     Forall (eq 0) w) ->
  forall w, (forall z, In z rows -> sign (dot (reals z) w)) ->
  forall z, is_spanned rows deps z = true -> dot (reals z) w = 0.
Proof.
  intros Hc Hv Hk w Hw z Hz. rewrite forallb_forall in Hv.
  unfold is_spanned in Hz. apply andb_true_iff in Hz as [Hz1 Hz2].
  destruct (without_own_columns deps Hc w) as [w' [A [B _]]].
  set (m := kept rows deps) in *.
  assert (P : forall x, (forall j, nth j (occupied rows) false = false -> nth j x 0%Z = 0%Z) ->
    dot (reals x) w' = dot (reals (pick m x)) (pick m w')).
  { intros x Hx. rewrite <- pick_reals. apply dot_pick. intros j Hj.
    apply nth_strike in Hj as [Hj|Hj].
    - rewrite nth_reals, Hx by assumption. ring.
    - apply in_map_iff in Hj as [d [E Hd]]. simpl in E. rewrite <- E, B by assumption. ring. }
  rewrite <- (A z Hz2), P by (intros j Hj; eapply inside_zero; eauto).
  rewrite dot_comm. apply dot_zeros, Hk.
  - intros x Hx. rewrite <- P by (intros j Hj; eapply occupied_zero; eauto). rewrite (A x (Hv x Hx)). auto.
  - clear. generalize w'. induction m as [|[] m IH]; intros [|x l]; simpl; auto with arith.
Qed.

(** ** Full rank *)

Definition is_zero_mod (p a : Z) : bool := (a mod p =? 0)%Z.

(** The first row with something other than 0 in front, and the others. *)
Fixpoint lead (p : Z) (rows : list (list Z)) : option (list Z * list (list Z)) :=
  match rows with
  | [] => None
  | r :: rest =>
      if is_zero_mod p (hd 0%Z r)
      then match lead p rest with Some (l, others) => Some (l, r :: others) | None => None end
      else Some (r, rest)
  end.

(** a·x - b·y modulo p. *)
Fixpoint cross (p a b : Z) (x y : list Z) : list Z :=
  match x, y with
  | u :: x', v :: y' => ((a * u - b * v) mod p)%Z :: cross p a b x' y'
  | _, _ => []
  end.

(** Do the rows have full rank modulo p in the first [width] columns? *)
Fixpoint full_rank (p : Z) (width : nat) (rows : list (list Z)) : bool :=
  match width with
  | O => true
  | S n =>
      match lead p rows with
      | None => false
      | Some (l, others) =>
          let h := hd 0%Z l in
          let t := tl l in
          full_rank p n (map (fun r => cross p h (hd 0%Z r) (tl r) t) others)
      end
  end.

(** The rows modulo p stand for rows of integers that nobody computes. *)
Definition same (p a b : Z) : Prop := exists k, a = (b + k * p)%Z.
Definition shadow (p : Z) : list Z -> list Z -> Prop := Forall2 (same p).

Fixpoint crossZ (a b : Z) (x y : list Z) : list Z :=
  match x, y with
  | u :: x', v :: y' => (a * u - b * v)%Z :: crossZ a b x' y'
  | _, _ => []
  end.

Lemma same_mod p a : p <> 0%Z -> same p (a mod p) a.
Proof. intros H. exists (- (a / p))%Z. rewrite (Z.div_mod a p) at 2 by assumption. ring. Qed.

Lemma shadow_mod p z : p <> 0%Z -> shadow p (map (fun v => (v mod p)%Z) z) z.
Proof. intros H. induction z; simpl; constructor; auto using same_mod. Qed.

Lemma shadow_cross p a a' b b' x x' y y' :
  p <> 0%Z -> same p a a' -> same p b b' -> shadow p x x' -> shadow p y y' ->
  shadow p (cross p a b x y) (crossZ a' b' x' y').
Proof.
  intros Hp [ka ->] [kb ->] Hx; revert y y'. induction Hx as [|u u' x x' [ku ->] Hx IH]; intros y y' Hy; [constructor|].
  destruct Hy as [|v v' y y' [kv ->] Hy]; [constructor|]. simpl. constructor; [|apply IH; assumption].
  match goal with |- same _ (?e mod _) _ => destruct (same_mod p e Hp) as [k E]; rewrite E end.
  exists (a' * ku + ka * u' + ka * ku * p - (b' * kv + kb * v' + kb * kv * p) + k)%Z. ring.
Qed.

Lemma dot_crossZ a b x y w :
  length x = length y -> dot (reals (crossZ a b x y)) w = IZR a * dot (reals x) w - IZR b * dot (reals y) w.
Proof.
  revert y w; induction x as [|u x IH]; intros [|v y] [|c w] H; simpl in *; try discriminate; try ring.
  rewrite IH by lia. rewrite minus_IZR, !mult_IZR. ring.
Qed.

Lemma lead_shadow p rows : forall N l others,
  lead p rows = Some (l, others) -> Forall2 (shadow p) rows N ->
  exists l' others', In l' N /\ incl others' N /\ shadow p l l' /\ Forall2 (shadow p) others others' /\ is_zero_mod p (hd 0%Z l) = false.
Proof.
  induction rows as [|r rows IH]; simpl; intros N l others H HN; [discriminate|].
  inversion_clear HN as [|? n ? N' Hr HN']. destruct (is_zero_mod p (hd 0%Z r)) eqn:E.
  - destruct (lead p rows) as [[l1 o1]|]; [|discriminate]. injection H as <- <-.
    destruct (IH N' l1 o1 eq_refl HN') as [l' [o' [A [B [C [D F]]]]]].
    exists l', (n :: o'). repeat split; auto; [right; assumption|].
    intros x [<-|Hx]; [left; reflexivity | right; auto].
  - injection H as <- <-. exists n, N'. repeat split; auto; [left; reflexivity | right; assumption].
Qed.

Lemma full_rank_shadow p width : p <> 0%Z -> forall rows N,
  full_rank p width rows = true -> Forall2 (shadow p) rows N -> (forall n, In n N -> length n = width) ->
  forall w, (length w <= width)%nat -> (forall n, In n N -> dot (reals n) w = 0) -> Forall (eq 0) w.
Proof.
  intros Hp; induction width as [|width IH]; intros rows N H HN Hlen w Hw H0.
  { destruct w; [constructor | simpl in Hw; lia]. }
  destruct w as [|w0 w]; [constructor|]. simpl in H, Hw.
  destruct (lead p rows) as [[l others]|] eqn:El; [|discriminate].
  destruct (lead_shadow p rows N l others El HN) as [l' [o' [A [B [C [D F]]]]]].
  assert (Hl := Hlen _ A). destruct C as [|h h' t t' Hh Ht]; [simpl in Hl; lia|]. simpl in H, F, Hl.
  assert (Hh' : IZR h' <> 0).
  { apply not_0_IZR. intros ->. destruct Hh as [k ->]. unfold is_zero_mod in F.
    rewrite Z.add_0_l, Z.mod_mul in F by assumption. discriminate. }
  pose proof (H0 _ A) as E1; simpl in E1.
  assert (Z : Forall (eq 0) w).
  { apply (IH _ (map (fun n => crossZ h' (hd 0%Z n) (tl n) t') o') H).
    - clear -D Hh Ht Hp. induction D as [|r n others o' Hr D IHD]; constructor; auto.
      apply shadow_cross; auto; destruct Hr; simpl; auto; try constructor. exists 0%Z; ring.
    - intros n Hn. apply in_map_iff in Hn as [m [<- Hm]]. apply B, Hlen in Hm.
      destruct m as [|m0 m]; simpl in *; [lia|]. clear -Hl Hm. injection Hm as Hm. injection Hl as Hl.
      rewrite <- Hm in *. clear Hm. revert t' Hl; induction m as [|u m IHm]; intros [|v t'] H; simpl in *; auto; try lia.
    - lia.
    - intros n Hn. apply in_map_iff in Hn as [m [<- Hm]]. apply B in Hm. pose proof (Hlen _ Hm) as Lm. pose proof (H0 _ Hm) as E2.
      destruct m as [|m0 m]; simpl in *; [lia|]. rewrite dot_crossZ by lia.
      assert (E3 : dot (reals m) w = - (IZR m0 * w0)) by lra.
      assert (E4 : dot (reals t') w = - (IZR h' * w0)) by lra. rewrite E3, E4. ring. }
  constructor; [|assumption]. rewrite (dot_comm (reals t')), (dot_zeros w) in E1 by assumption. nra.
Qed.

Definition has_full_rank (p : Z) (width : nat) (rows : list (list Z)) : bool :=
  negb (p =? 0)%Z && forallb (fun z => (length z =? width)%nat) rows
  && full_rank p width (map (map (fun v => (v mod p)%Z)) rows).

Theorem full_rank_sound p width rows :
  has_full_rank p width rows = true ->
  forall w, (length w <= width)%nat -> (forall z, In z rows -> dot (reals z) w = 0) -> Forall (eq 0) w.
Proof.
  unfold has_full_rank. rewrite !andb_true_iff. intros [[Hp Hl] H] w. apply negb_true_iff, Z.eqb_neq in Hp.
  rewrite forallb_forall in Hl.
  apply (full_rank_shadow p width Hp (map (map (fun v => (v mod p)%Z)) rows)); auto.
  - clear -Hp. induction rows; constructor; auto using shadow_mod.
  - intros n Hn. apply Nat.eqb_eq, Hl, Hn.
Qed.

(** ** The spread *)

(** Two primes: whether rows have full rank does not depend on them, unless by bad luck. *)
Definition primes : list Z := [2147483647%Z; 2305843009213693951%Z].

Definition rows_of (l : combination) : list (list Z) := map (fun ur => entries (snd ur)) l.

(** Do these dependences describe the span of these rows? *)
Definition describes (rows : list (list Z)) (deps : list dependence) : bool :=
  let m := kept rows deps in
  is_chain deps && forallb (vanish deps) rows
  && existsb (fun p => has_full_rank p (length (pick m m)) (map (pick m) rows)) primes.

Theorem spread l deps w :
  all_positive l = true -> cancels l = true -> describes (rows_of l) deps = true ->
  (forall ur, In ur l -> 0 <= score (snd ur) w) ->
  forall r, is_spanned (rows_of l) deps (entries r) = true -> score r w = 0.
Proof.
  unfold describes. rewrite !andb_true_iff, existsb_exists. intros Hu Hc [[H1 H2] [p [_ H3]]] Hw r Hr.
  unfold score. rewrite (span (eq 0) (rows_of l) deps H1 H2); auto; [unfold Rdiv; ring| |].
  - intros v Hv Hlen. eapply full_rank_sound; eauto.
    intros z Hz. apply in_map_iff in Hz as [x [<- Hx]]. symmetry. auto.
  - intros z Hz. apply in_map_iff in Hz as [ur [<- Hin]].
    pose proof (weak_on_obstruction l w Hu Hc Hw ur Hin) as E. unfold score in E.
    pose proof (Rinv_0_lt_compat _ (two_pos (shift (snd ur)))). unfold Rdiv in E. nra.
Qed.

(** Overlapping: if every row is in the span, a weak separator separates nothing. *)
Theorem overlapping t l deps w :
  all_positive l = true -> cancels l = true -> describes (rows_of l) deps = true ->
  (forall ur, In ur l -> In (snd ur) t) -> forallb (fun r => is_spanned (rows_of l) deps (entries r)) t = true ->
  (forall r, In r t -> 0 <= score r w) -> forall r, In r t -> score r w = 0.
Proof. intros Hu Hc Hd Hl Ht Hw r Hr. rewrite forallb_forall in Ht. eapply spread; eauto. Qed.

(** Touching: if every row is in the span that w0 does not put strictly on its side, no weak separator puts more rows there. *)
Theorem maximal t l deps w0 w :
  all_positive l = true -> cancels l = true -> describes (rows_of l) deps = true ->
  (forall ur, In ur l -> In (snd ur) t) ->
  (forall r, In r t -> 0 < score r w0 \/ is_spanned (rows_of l) deps (entries r) = true) ->
  (forall r, In r t -> 0 <= score r w) -> forall r, In r t -> 0 < score r w -> 0 < score r w0.
Proof.
  intros Hu Hc Hd Hl Ht Hw r Hr H. destruct (Ht r Hr) as [A|A]; auto.
  rewrite (spread l deps w) in H; auto. lra.
Qed.
