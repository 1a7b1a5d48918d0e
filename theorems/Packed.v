(** Sums of many rows by a few long multiplications.

    A row of small integers is written into one long one, with room between them. A sum of such rows, each times a number, is then a sum of
    long integers, and its entries are read off where they stand, provided that none of them was too long for its
    room. [gram_packed_same] says that this is AᵀA, as if every entry had been computed by itself. *)

From Coq Require Import ZArith List Bool Lia.
From Linsep Require Import Vectors.
Import ListNotations.
Open Scope Z_scope.

(** Σ c row *)
Fixpoint mix (cs : list Z) (rows : list (list Z)) : list Z :=
  match cs, rows with
  | c :: cs', r :: rows' => addZ (scaleZ c r) (mix cs' rows')
  | _, _ => []
  end.

(** The columns of a matrix whose rows all have this length. *)
Fixpoint cons_each (a : list Z) (columns : list (list Z)) : list (list Z) :=
  match a, columns with
  | x :: a', c :: columns' => (x :: c) :: cons_each a' columns'
  | _, _ => []
  end.

Definition transpose (m : nat) (a : list (list Z)) : list (list Z) := fold_right cons_each (repeat [] m) a.

(** AᵀA *)
Definition gram (m : nat) (a : list (list Z)) : list (list Z) := map (fun c => mix c a) (transpose m a).

(** ** Rows as long integers *)

(** Σ d_j 2^(kj): two neighbours at a time, so that long numbers are not shifted again and again. *)
Fixpoint value (k : Z) (l : list Z) : Z := match l with [] => 0 | d :: l' => d + 2 ^ k * value k l' end.

Fixpoint join (k : Z) (l : list Z) : list Z :=
  match l with
  | a :: b :: l' => (a + Z.shiftl b k) :: join k l'
  | _ => l
  end.

Fixpoint pack (fuel : nat) (k : Z) (l : list Z) : Z :=
  match l, fuel with
  | [], _ => 0
  | [a], _ => a
  | _, S fuel' => pack fuel' (2 * k) (join k l)
  | _, O => value k l
  end.

(** The bits of a number from [start] on, [k] of them. *)
Definition digit (v start k : Z) : Z := (v / 2 ^ start) mod 2 ^ k.

(** The entries, each of which has 2^(k-1) added to it. *)
Fixpoint unpack (n : nat) (start k half v : Z) : list Z :=
  match n with
  | O => []
  | S n' => (digit v start k - half) :: unpack n' (start + k) k half v
  end.

Definition largest (a : list (list Z)) : Z := fold_left (fun b r => fold_left (fun b v => Z.max b (Z.abs v)) r b) a 0.

Definition dot_long (cs longs : list Z) : Z := dotZ cs longs.

Definition levels : nat := 64.

Definition gram_packed (m : nat) (a : list (list Z)) : list (list Z) :=
  let most := largest a in
  let n := Z.of_nat (length a) in
  let k := 2 * Z.log2 most + Z.log2 n + 5 in
  let half := Z.shiftl 1 (k - 1) in
  if (0 <? k) && (0 <? n) && (n * (most * most) <? half) && forallb (fun r => (length r =? m)%nat) a then
    let longs := map (pack levels k) a in
    let middle := pack levels k (repeat half m) in
    map (fun c => unpack m 0 k half (dot_long c longs + middle)) (transpose m a)
  else gram m a.

(** ** That it is the same *)

Lemma join_length k l : (length (join k l) <= length l)%nat.
Proof.
  assert (H : forall n l, (length l <= n)%nat -> (length (join k l) <= length l)%nat).
  { induction n as [|n IH]; intros [|a [|b l0]] Hl; simpl in *; try lia. specialize (IH l0). lia. }
  apply (H (length l)). lia.
Qed.

Lemma value_join k : 0 <= k -> forall l, value (2 * k) (join k l) = value k l.
Proof.
  intros Hk. assert (H : forall n l, (length l <= n)%nat -> value (2 * k) (join k l) = value k l).
  { induction n as [|n IH]; intros [|a [|b l]] Hl; cbn [join value length] in *; try lia.
    rewrite IH by lia. rewrite Z.shiftl_mul_pow2 by assumption. replace (2 * k) with (k + k) by ring.
    rewrite Z.pow_add_r by assumption. ring. }
  intros l. apply (H (length l)). lia.
Qed.

Lemma pack_value fuel : forall k l, 0 <= k -> pack fuel k l = value k l.
Proof.
  induction fuel as [|fuel IH]; intros k [|a [|b l]] Hk; try reflexivity; try (cbn [pack value]; ring).
  change (pack fuel (2 * k) (join k (a :: b :: l)) = value k (a :: b :: l)).
  rewrite IH by lia. apply value_join; assumption.
Qed.

Lemma value_add k a : forall b, value k (addZ a b) = value k a + value k b.
Proof. induction a as [|x a IH]; intros [|y b]; simpl; try lia. rewrite IH. ring. Qed.

Lemma value_scale k c a : value k (scaleZ c a) = c * value k a.
Proof. induction a as [|x a IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma value_mix k cs : forall rows, value k (mix cs rows) = dotZ cs (map (value k) rows).
Proof. induction cs as [|c cs IH]; intros [|r rows]; simpl; auto. rewrite value_add, value_scale, IH. ring. Qed.

Lemma unpack_value k half : 0 < k -> forall e start v, 0 <= start ->
  Forall (fun d => 0 <= d < 2 ^ k) e -> v / 2 ^ start = value k e -> unpack (length e) start k half v = map (fun d => d - half) e.
Proof.
  intros Hk. induction e as [|d e IH]; intros start v Hs He Hv; simpl; auto.
  inversion_clear He as [|? ? Hd He']. assert (P : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia). f_equal.
  - unfold digit. rewrite Hv. cbn [value]. rewrite Z.mul_comm, Z.mod_add, Z.mod_small by lia. reflexivity.
  - apply IH; auto; [lia|]. rewrite Z.pow_add_r by lia. rewrite <- Z.div_div by (try apply Z.pow_nonzero; try apply Z.pow_pos_nonneg; lia).
    rewrite Hv. cbn [value]. rewrite Z.mul_comm, Z.div_add, Z.div_small by lia. reflexivity.
Qed.

(** Every entry is small enough for its room. *)
Lemma largest_row r : forall b, b <= fold_left (fun b v => Z.max b (Z.abs v)) r b /\ Forall (fun v => Z.abs v <= fold_left (fun b v => Z.max b (Z.abs v)) r b) r.
Proof.
  induction r as [|x r IH]; simpl; intros b; [split; [lia | constructor]|]. destruct (IH (Z.max b (Z.abs x))) as [A B].
  split; [lia|]. constructor; [lia | assumption].
Qed.

Lemma largest_all a : forall b, b <= fold_left (fun b r => fold_left (fun b v => Z.max b (Z.abs v)) r b) a b /\
  Forall (Forall (fun v => Z.abs v <= fold_left (fun b r => fold_left (fun b v => Z.max b (Z.abs v)) r b) a b)) a.
Proof.
  induction a as [|r a IH]; simpl; intros b; [split; [lia | constructor]|].
  destruct (largest_row r b) as [A B]. destruct (IH (fold_left (fun b v => Z.max b (Z.abs v)) r b)) as [C D].
  split; [lia|]. constructor; auto. eapply Forall_impl; [|exact B]. intros; simpl in *; lia.
Qed.

Lemma mix_small L cs : 0 <= L -> Forall (fun c => Z.abs c <= L) cs -> forall rows, Forall (Forall (fun v => Z.abs v <= L)) rows ->
  Forall (fun v => Z.abs v <= Z.of_nat (length cs) * (L * L)) (mix cs rows).
Proof.
  intros HL Hc. induction Hc as [|c cs Hc Hcs IH]; intros [|r rows] Hr; cbn [mix length]; try constructor.
  inversion_clear Hr as [|? ? Hr1 Hr2]. specialize (IH rows Hr2).
  replace (Z.of_nat (S (length cs)) * (L * L)) with (L * L + Z.of_nat (length cs) * (L * L)) by lia.
  set (M := Z.of_nat (length cs) * (L * L)) in *. assert (0 <= M) by (unfold M; nia). assert (0 <= L * L) by nia. clearbody M.
  revert IH. generalize (mix cs rows) as x. clear Hr2. induction Hr1 as [|v r Hv Hr1 IHr]; intros x Hx; simpl.
  - eapply Forall_impl; [|exact Hx]. intros; simpl in *; lia.
  - assert (A : Z.abs (c * v) <= L * L) by (rewrite Z.abs_mul; nia).
    destruct Hx as [|y x Hy Hx]; simpl; constructor; try lia.
    + clear -Hr1 Hc HL H H0. induction Hr1 as [|u r Hu Hr1 IH]; simpl; constructor; auto.
      assert (Z.abs (c * u) <= L * L) by (rewrite Z.abs_mul; nia). lia.
    + apply IHr; assumption.
Qed.

Lemma addZ_length a : forall b, length a = length b -> length (addZ a b) = length a.
Proof. induction a as [|x a IH]; intros [|y b] H; simpl in *; try lia. rewrite IH; lia. Qed.

Lemma mix_length m cs : forall rows, (forall r, In r rows -> length r = m) -> length cs = length rows -> rows <> [] -> length (mix cs rows) = m.
Proof.
  induction cs as [|c cs IH]; intros [|r rows] Hr Hl Hn; simpl in *; try congruence; try lia.
  assert (Lr : length (scaleZ c r) = m) by (unfold scaleZ; rewrite map_length; auto).
  destruct rows as [|q rows]; [destruct cs as [|c0 cs]; [destruct (scaleZ c r); auto | discriminate]|].
  rewrite addZ_length; [exact Lr|]. rewrite Lr. symmetry.
  apply IH; [intros; apply Hr; right; assumption | simpl in *; lia | discriminate].
Qed.

Lemma transpose_columns m a L : (forall r, In r a -> length r = m) -> Forall (Forall (fun v => Z.abs v <= L)) a ->
  Forall (fun c => length c = length a /\ Forall (fun v => Z.abs v <= L) c) (transpose m a).
Proof.
  intros Hm Ha. induction Ha as [|r a Hr Ha IH]; simpl.
  - apply Forall_forall. intros c Hc. apply repeat_spec in Hc. subst c. auto.
  - assert (IH' := IH (fun q Hq => Hm q (or_intror Hq))). clear IH Hm. revert IH'. generalize (transpose m a) as t. induction Hr as [|v r Hv Hr IH]; intros t Ht; simpl; [constructor|].
    destruct Ht as [|c t [Hc1 Hc2] Ht]; constructor; auto. simpl. split; [lia | constructor; assumption].
Qed.

Theorem gram_packed_same m a : gram_packed m a = gram m a.
Proof.
  unfold gram_packed. destruct (_ && _ && _) eqn:E; auto. rewrite !andb_true_iff, forallb_forall, !Z.ltb_lt in E.
  destruct E as [[[Hk Hn] Hb] Hl].
  assert (Hm : forall r, In r a -> length r = m) by (intros r Hr; apply Nat.eqb_eq, Hl, Hr).
  set (k := 2 * Z.log2 (largest a) + Z.log2 (Z.of_nat (length a)) + 5) in *. clearbody k.
  assert (Hh : Z.shiftl 1 (k - 1) = 2 ^ (k - 1)) by (rewrite Z.shiftl_mul_pow2 by lia; ring). rewrite Hh in *.
  assert (H2 : 2 ^ k = 2 * 2 ^ (k - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  destruct (largest_all a 0) as [L0 La]. fold (largest a) in L0, La.
  pose proof (transpose_columns m a (largest a) Hm La) as T. rewrite Forall_forall in T.
  unfold gram. apply map_ext_in. intros c Hc. destruct (T c Hc) as [Lc Sc].
  assert (P : map (pack levels k) a = map (value k) a) by (apply map_ext; intros; apply pack_value; lia).
  unfold dot_long. rewrite P, <- value_mix, pack_value by lia.
  pose proof (mix_small (largest a) c L0 Sc a La) as S. rewrite Lc in S.
  assert (Lm : length (mix c a) = m) by (apply mix_length; auto; intros ->; simpl in Hn; lia).
  set (half := 2 ^ (k - 1)) in *.
  assert (R : value k (mix c a) + value k (repeat half m) = value k (map (fun d => d + half) (mix c a))).
  { rewrite <- Lm. clear. induction (mix c a) as [|d l IH]; cbn [length repeat value map]; lia. }
  rewrite R. set (e := map (fun d => d + half) (mix c a)).
  assert (Le : length e = m) by (unfold e; rewrite map_length; assumption). rewrite <- Le at 1.
  rewrite (unpack_value k half Hk e 0) by (try lia; try apply Z.div_1_r;
    unfold e; apply Forall_forall; intros x Hx; apply in_map_iff in Hx as [d [<- Hd]];
    rewrite Forall_forall in S; specialize (S d Hd); lia).
  unfold e. rewrite map_map. rewrite <- (map_id (mix c a)) at 2. apply map_ext. intros d. ring.
Qed.
