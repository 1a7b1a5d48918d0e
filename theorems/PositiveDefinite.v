(** The positive-definite obstruction: rows that need not cancel, as long as a matrix outweighs what is left of their sum.

    Let p = u·z for some rows z with positive u, each column times a power of two, r = Σ p, and G = Σ c p pᵀ with numbers
    0 <= c <= 1/|p|. If the least eigenvalue of G exceeds |r|, then w = 0 is the only w with p·w >= 0 on all these rows.

    Proof. s = p·w is at least 0, and at most |p||w|, so c s² <= s|w|. Add up: wᵀGw <= |w| Σ s = |w| (r·w) <= |r||w|². But
    wᵀGw is more than that, unless w = 0.

    The integer test. √c p is rounded down to a row of integers A, in units of 2^-FINE. For any matrix U and any t at all,
    AᵀA = UᵀU + t·I + E, and UᵀU has no negative eigenvalue: so the least eigenvalue of AᵀA is at least t minus the largest sum
    of |E| over a row or a column (Gershgorin). Each entry of A is off by less than 1, so the singular values are off by
    less than the root of the number of entries. U comes from floats, which nobody need believe.

    Columns that are 0 on all these rows are left out, and so is of each dependence its own column: Spread.v says what
    that means for all other rows. *)

From Coq Require Import ZArith Reals List Bool Arith Lia Lra.
From Linsep Require Import Vectors Rows Obstruction Spread Packed.
Import ListNotations.
Open Scope R_scope.

(** ** The theorem *)

Definition vsum (ps : list (list R)) : list R := fold_right add [] ps.

Lemma dot_vsum ps w : dot (vsum ps) w = total (map (fun p => dot p w) ps).
Proof. induction ps; simpl; [reflexivity|]. rewrite dot_add_l, IHps. reflexivity. Qed.

(** wᵀGw, with the numbers c beside the rows. *)
Definition energy (ps : list (list R * R)) (w : list R) : R :=
  total (map (fun pc => snd pc * (dot (fst pc) w * dot (fst pc) w)) ps).

Theorem positive_definite ps w :
  (forall pc, In pc ps -> 0 <= snd pc /\ snd pc * norm (fst pc) <= 1) ->
  (forall pc, In pc ps -> 0 <= dot (fst pc) w) ->
  (dot w w <> 0 -> norm (vsum (map fst ps)) * dot w w < energy ps w) ->
  dot w w = 0.
Proof.
  intros Hc Hs Hl. destruct (Req_dec (dot w w) 0) as [E|N]; auto. exfalso. specialize (Hl N).
  pose proof (norm_pos w) as Pw. pose proof (norm_squared w) as Sw.
  assert (K : energy ps w <= norm w * dot (vsum (map fst ps)) w).
  { rewrite dot_vsum. unfold energy. clear Hl N. induction ps as [|[p c] ps IH]; simpl; [lra|].
    assert (IH' := IH (fun q Hq => Hc q (or_intror Hq)) (fun q Hq => Hs q (or_intror Hq))).
    destruct (Hc (p, c) (or_introl eq_refl)) as [C1 C2]. assert (S0 := Hs (p, c) (or_introl eq_refl)). simpl in *.
    pose proof (cauchy_schwarz p w) as CS. pose proof (norm_pos p) as Pp. set (s := dot p w) in *.
    assert (c * s <= norm w).
    { apply Rle_trans with (c * (norm p * norm w)); [apply Rmult_le_compat_l; assumption|].
      replace (c * (norm p * norm w)) with (c * norm p * norm w) by ring. nra. }
    assert (c * (s * s) <= norm w * s) by (replace (c * (s * s)) with (c * s * s) by ring; apply Rmult_le_compat_r; assumption).
    lra. }
  pose proof (cauchy_schwarz (vsum (map fst ps)) w) as CS. rewrite <- Sw in Hl.
  assert (norm w * dot (vsum (map fst ps)) w <= norm w * (norm (vsum (map fst ps)) * norm w))
    by (apply Rmult_le_compat_l; assumption). lra.
Qed.

(** ** Matrices, as lists of rows *)

Fixpoint addM (a b : list (list Z)) : list (list Z) :=
  match a, b with
  | x :: a', y :: b' => addZ x y :: addM a' b'
  | [], _ => b
  | _, [] => a
  end.

Definition opposite (m : list (list Z)) : list (list Z) := map (scaleZ (-1)) m.

Definition apply (m : list (list Z)) (w : list R) : list R := map (fun g => dot (reals g) w) m.

(** xᵀMw *)
Definition form2 (x : list R) (m : list (list Z)) (w : list R) : R := dot x (apply m w).

Lemma form2_add x a b w : form2 x (addM a b) w = form2 x a w + form2 x b w.
Proof.
  unfold form2. revert x b; induction a as [|g a IH]; intros [|c x] [|h b]; simpl; try ring.
  rewrite IH, reals_add, dot_add_l. ring.
Qed.

Lemma form2_opposite x a w : form2 x (opposite a) w = - form2 x a w.
Proof.
  unfold form2. revert x; induction a as [|g a IH]; intros [|c x]; simpl; try ring.
  rewrite IH, reals_scale, dot_scale_l. ring.
Qed.

Fixpoint diagonal (t : Z) (m : nat) : list (list Z) :=
  match m with
  | O => []
  | S m' => [t] :: map (cons 0%Z) (diagonal t m')
  end.

Lemma form2_diagonal t m : forall w, (length w <= m)%nat -> form2 w (diagonal t m) w = IZR t * dot w w.
Proof.
  unfold form2. induction m as [|m IH]; intros [|x w] H; simpl in *; try lia; try ring.
  assert (E : apply (map (cons 0%Z) (diagonal t m)) (x :: w) = apply (diagonal t m) w).
  { unfold apply. rewrite map_map. apply map_ext. intros g. simpl. ring. }
  fold (apply (map (cons 0%Z) (diagonal t m)) (x :: w)). rewrite E, IH by lia. ring.
Qed.

Lemma transpose_length m a : (forall r, In r a -> length r = m) -> length (transpose m a) = m.
Proof.
  induction a as [|r a IH]; simpl; intros H; [apply repeat_length|].
  assert (L : length r = m) by auto. assert (L' : length (transpose m a) = m) by auto.
  revert L L'. generalize (transpose m a). clear. revert m; induction r; intros [|m] [|c l] H1 H2; simpl in *; auto; try lia.
Qed.

Lemma form2_transpose m a : (forall r, In r a -> length r = m) -> forall x v, form2 x (transpose m a) v = dot (apply a x) v.
Proof.
  unfold form2. induction a as [|r a IH]; simpl; intros H x v.
  - clear. revert x; induction m; intros [|c x]; simpl; try ring. rewrite IHm. ring.
  - assert (L : length r = length (transpose m a)) by (rewrite transpose_length; auto).
    assert (IH' := fun x v => IH (fun q Hq => H q (or_intror Hq)) x v).
    destruct v as [|v0 v].
    + clear. revert x. generalize (transpose m a). induction r; intros [|c l] [|y x]; simpl; try ring. rewrite IHr. ring.
    + rewrite <- IH'. clear IH IH' H. revert x L. generalize (transpose m a). induction r as [|q r IH]; intros [|c l] [|y x] L; simpl in *; try lia; try ring.
      rewrite IH by lia. ring.
Qed.

Lemma dot_mix cs rows w : dot (reals (mix cs rows)) w = dot (reals cs) (apply rows w).
Proof.
  revert rows; induction cs as [|c cs IH]; intros [|r rows]; simpl; try reflexivity.
  rewrite reals_add, dot_add_l, reals_scale, dot_scale_l, IH. reflexivity.
Qed.

Lemma form2_gram m a : (forall r, In r a -> length r = m) -> forall w, form2 w (gram m a) w = dot (apply a w) (apply a w).
Proof.
  intros H w. rewrite <- (form2_transpose m a H). unfold form2, gram, apply at 1. rewrite map_map. f_equal.
  unfold apply at 1. apply map_ext. intros c. apply dot_mix.
Qed.

(** ** Gershgorin *)

Definition sizes (g : list Z) : list Z := map Z.abs g.
Definition squares (w : list R) : list R := map (fun x => x * x) w.

Lemma total_squares w : total (squares w) = dot w w.
Proof. induction w; simpl; auto. rewrite IHw. reflexivity. Qed.

Lemma row_bound x g w :
  - (x * x * IZR (totalZ (sizes g)) + dot (reals (sizes g)) (squares w)) <= 2 * (x * dot (reals g) w).
Proof.
  assert (P : forall g, 0 <= IZR (totalZ (sizes g))).
  { intros l. apply IZR_le. induction l; simpl; lia. }
  revert w; induction g as [|e g IH]; intros [|y w]; simpl; rewrite ?plus_IZR; try lra.
  - assert (0 <= x * x * (IZR (Z.abs e) + IZR (totalZ (sizes g)))).
    { apply Rmult_le_pos; [nra|]. specialize (P g). assert (0 <= IZR (Z.abs e)) by (apply IZR_le; lia). lra. }
    lra.
  - specialize (IH w). assert (- (IZR (Z.abs e) * (x * x + y * y)) <= 2 * (x * (IZR e * y))); [|lra].
    rewrite abs_IZR. destruct (Rle_dec 0 (IZR e)) as [Pe|Ne].
    + rewrite Rabs_pos_eq by assumption. pose proof (Rmult_le_pos _ _ Pe (Rle_0_sqr (x + y))) as Q. unfold Rsqr in Q. lra.
    + rewrite Rabs_left by lra. assert (Pe : 0 <= - IZR e) by lra.
      pose proof (Rmult_le_pos _ _ Pe (Rle_0_sqr (x - y))) as Q. unfold Rsqr in Q. lra.
Qed.

Definition column_sums (m : list (list Z)) : list Z := fold_right (fun g => addZ (sizes g)) [] m.

(** Is every sum of sizes, over a row or over a column, this at most? *)
Definition is_within (worst : Z) (e : list (list Z)) : bool :=
  forallb (fun g => (totalZ (sizes g) <=? worst)%Z) e && forallb (fun s => (s <=? worst)%Z) (column_sums e) && (0 <=? worst)%Z.

Lemma dot_le_total (l : list Z) worst w : (0 <= worst)%Z -> Forall (fun x => 0 <= x) w ->
  forallb (fun s => (s <=? worst)%Z) l = true -> dot (reals l) w <= IZR worst * total w.
Proof.
  intros H0 Hw H. revert w Hw; induction l as [|s l IH]; intros w Hw; simpl in *.
  - apply IZR_le in H0. apply Rmult_le_pos; auto. induction Hw; simpl; lra.
  - apply andb_true_iff in H as [H1 H2]. apply Z.leb_le, IZR_le in H1.
    destruct Hw as [|x w Hx Hw]; simpl; [apply IZR_le in H0; lra|]. specialize (IH H2 w Hw). nra.
Qed.

Lemma gershgorin worst e : is_within worst e = true -> forall w, - (IZR worst * dot w w) <= form2 w e w.
Proof.
  unfold is_within. rewrite !andb_true_iff, Z.leb_le, forallb_forall. intros [[H1 H2] H0] w.
  assert (Hsq : Forall (fun x => 0 <= x) (squares w)) by (apply Forall_forall; intros y Hy; apply in_map_iff in Hy as [x [<- _]]; nra).
  assert (A : forall x, - (IZR worst * dot x x + dot (reals (column_sums e)) (squares w)) <= 2 * form2 x e w).
  { clear H2. apply IZR_le in H0. induction e as [|g e IH]; intros x.
    - unfold form2; simpl. rewrite dot_nil_r. pose proof (dot_self x). nra.
    - simpl column_sums. rewrite reals_add, dot_add_l. unfold form2 in *. destruct x as [|x0 x]; simpl.
      + assert (Q : forall l, 0 <= dot (reals (sizes l)) (squares w)).
        { clear -Hsq. induction Hsq as [|y s Hy Hs IHs]; intros l; [rewrite dot_nil_r; lra|].
          destruct l as [|v l]; simpl; [lra|]. specialize (IHs l). assert (0 <= IZR (Z.abs v)) by (apply IZR_le; lia). nra. }
        specialize (Q g). specialize (IH (fun q Hq => H1 q (or_intror Hq)) []). simpl in IH. lra.
      + specialize (IH (fun q Hq => H1 q (or_intror Hq)) x). pose proof (row_bound x0 g w) as B.
        assert (W := H1 g (or_introl eq_refl)). apply Z.leb_le, IZR_le in W.
        assert (x0 * x0 * IZR (totalZ (sizes g)) <= x0 * x0 * IZR worst) by (apply Rmult_le_compat_l; nra). lra. }
  specialize (A w). pose proof (dot_le_total _ _ _ H0 Hsq H2) as C. rewrite total_squares in C. lra.
Qed.

(** ** The least eigenvalue *)

(** G - UᵀU - t·I *)
Definition residual (m : nat) (g u : list (list Z)) (t : Z) : list (list Z) :=
  addM g (opposite (addM (gram_packed m u) (diagonal t m))).

Definition has_width (m : nat) (a : list (list Z)) : bool := forallb (fun r => (length r =? m)%nat) a.

Definition worst_of (e : list (list Z)) : Z := fold_left (fun b g => Z.max b (totalZ (sizes g))) e 0%Z.

Fixpoint trace_from (j : nat) (g : list (list Z)) : Z :=
  match g with
  | [] => 0
  | r :: g' => nth j r 0 + trace_from (S j) g'
  end%Z.

(** t: a little more than what is to be exceeded. *)
Definition shift_for (m : nat) (g : list (list Z)) (least : Z) : Z :=
  (least + least / 100 + Z.shiftr (trace_from 0 g * Z.of_nat m) 49)%Z.

Section Factor.
(** Where U comes from: anything at all, or nothing, from G and t. *)
Variable factor : list (list Z) -> Z -> option (list (list Z)).

(** Is the least eigenvalue of AᵀA proved to be larger than this? *)
Definition exceeds (m : nat) (a : list (list Z)) (least : Z) : bool :=
  let g := gram_packed m a in
  let t := shift_for m g least in
  match factor g t with
  | None => false
  | Some u =>
      let e := residual m g u t in
      let worst := worst_of e in
      has_width m a && has_width m u && is_within worst e && (least <? t - worst)%Z
  end.

Theorem exceeds_sound m a least :
  exceeds m a least = true ->
  forall w, (length w <= m)%nat -> dot w w <> 0 -> IZR least * dot w w < dot (apply a w) (apply a w).
Proof.
  unfold exceeds, residual. destruct (factor _ _) as [u|]; [|discriminate]. generalize (shift_for m (gram_packed m a) least) as t. intros t.
  unfold has_width. rewrite !andb_true_iff, Z.ltb_lt, !forallb_forall. intros [[[Ha Hu] He] Hl] w Hw Hn.
  pose proof (gershgorin _ _ He w) as G. rewrite !gram_packed_same in *.
  rewrite form2_add, form2_opposite, form2_add, form2_diagonal in G by assumption.
  rewrite !form2_gram in G by (intros r Hr; apply Nat.eqb_eq; auto).
  pose proof (dot_self (apply u w)). pose proof (dot_self w).
  apply IZR_lt in Hl. rewrite minus_IZR in Hl.
  set (W := IZR (worst_of _)) in *. nra.
Qed.

(** ** The integer test *)

Definition fine : Z := 56. (* bits after the point *)

Fixpoint zip {A B C} (f : A -> B -> C) (a : list A) (b : list B) : list C :=
  match a, b with
  | x :: a', y :: b' => f x y :: zip f a' b'
  | _, _ => []
  end.

Definition bit_length (n : Z) : Z := if (n =? 0)%Z then 0%Z else (Z.log2 n + 1)%Z.

Fixpoint maxes (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => Z.max x y :: maxes a' b'
  | [], _ => b
  | _, [] => a
  end.

(** For each column the power of two that its entries are divided by. *)
Definition bits_of (rows : list (list Z)) : list Z :=
  map bit_length (fold_right (fun r => maxes (sizes r)) [] rows).

Definition sum_of (rows : list (list Z)) : list Z := fold_right addZ [] rows.

(** |r|·4^fine, rounded up. *)
Definition length_of_sum (bits : list Z) (rows : list (list Z)) : Z :=
  let sums := zip (fun v b => - Z.shiftr (- Z.shiftl (Z.abs v) (2 * fine)) b)%Z (sum_of rows) bits in
  (Z.sqrt (dotZ sums sums) + 1)%Z.

Definition sizes_up (bits p : list Z) : list Z := zip (fun v b => Z.shiftr (Z.shiftl (Z.abs v) fine) b + 1)%Z p bits.

(** A whole number with |p| <= 4^half. *)
Definition half_of (sz : list Z) : Z := (- ((fine - bit_length (Z.sqrt (dotZ sz sz) + 1)) / 2))%Z.

Definition is_half (sz : list Z) (half : Z) : bool :=
  (0 <=? 2 * half + fine)%Z && (dotZ sz sz <=? Z.shiftl 1 (2 * (2 * half + fine)))%Z.

(** The row √c·p·2^fine, rounded down, c = 4^-half. *)
Definition level (bits p : list Z) (half : Z) : list Z := zip (fun v b => Z.shiftr (Z.shiftl v fine) (b + half)) p bits.

Definition level_row (bits p : list Z) : list Z := level bits p (half_of (sizes_up bits p)).

Definition least_for (bits : list Z) (rows : list (list Z)) : Z :=
  let s := (Z.sqrt (length_of_sum bits rows) + 1 + Z.sqrt (Z.of_nat (length rows) * Z.of_nat (length bits)) + 1)%Z in (s * s)%Z.

Definition is_definite (rows : list (list Z)) : bool :=
  let bits := bits_of rows in
  forallb (fun p => let sz := sizes_up bits p in is_half sz (half_of sz)) rows
  && has_width (length bits) rows
  && exceeds (length bits) (map (level_row bits) rows) (least_for bits rows).

(** *** What the roundings do *)

Definition divided (bits p : list Z) : list R := zip (fun v b => IZR v / two b) p bits.
Definition stretched (bits : list Z) (w : list R) : list R := zip (fun b x => two b * x) bits w.

Lemma dot_divided bits p : forall w, (length w <= length bits)%nat -> dot (divided bits p) (stretched bits w) = dot (reals p) w.
Proof.
  unfold divided, stretched. revert p; induction bits as [|b bits IH]; intros [|v p] [|x w] H; simpl in *; try lia; try reflexivity.
  rewrite IH by lia. pose proof (two_pos b). field; lra.
Qed.

Lemma divided_sum bits rows : vsum (map (divided bits) rows) = divided bits (sum_of rows).
Proof.
  assert (A : forall a b, divided bits (addZ a b) = add (divided bits a) (divided bits b)).
  { unfold divided. clear rows. induction bits as [|c bits IH]; intros [|x a] [|y b]; simpl; auto.
    rewrite IH, plus_IZR. f_equal. field. pose proof (two_pos c); lra. }
  induction rows as [|r rows IH]; simpl; [destruct bits; reflexivity|]. rewrite IH, A. reflexivity.
Qed.

Lemma shiftr_floor a n : IZR (Z.shiftr a n) <= IZR a / two n < IZR (Z.shiftr a n) + 1.
Proof.
  pose proof (two_pos n) as P. destruct (Z.le_gt_cases 0 n) as [H|H].
  - rewrite Z.shiftr_div_pow2 by assumption. rewrite two_Z in * by assumption.
    assert (Q : (0 < 2 ^ n)%Z) by (apply Z.pow_pos_nonneg; lia).
    pose proof (Z.mul_div_le a (2 ^ n) Q) as L. pose proof (Z.mul_succ_div_gt a (2 ^ n) Q) as U.
    apply IZR_le in L. apply IZR_lt in U. rewrite mult_IZR in L, U. rewrite succ_IZR in U.
    set (q := IZR (a / 2 ^ n)) in *. set (d := IZR (2 ^ n)) in *. split.
    + apply Rmult_le_reg_r with d; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + apply Rmult_lt_reg_r with d; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - assert (E : IZR (Z.shiftr a n) = IZR a / two n); [|lra].
    replace n with (- - n)%Z at 1 by lia. rewrite Z.shiftr_opp_r, shiftl_two by lia.
    replace (two n) with (/ two (- n)); [field; pose proof (two_pos (- n)); lra|].
    replace n with (0 - - n)%Z at 2 by lia. rewrite two_minus, two_0. unfold Rdiv. lra.
Qed.

Lemma sqrt_up n : (0 <= n)%Z -> IZR n <= IZR (Z.sqrt n + 1) * IZR (Z.sqrt n + 1).
Proof.
  intros H. rewrite <- mult_IZR. apply IZR_le. destruct (Z.sqrt_spec n H) as [_ U]. unfold Z.succ in U. lia.
Qed.

Lemma dotZ_self a : (0 <= dotZ a a)%Z.
Proof. apply le_IZR. rewrite <- dot_reals. apply dot_self. Qed.

(** Rounded up entry by entry: no shorter. *)
Lemma rounded_up (up : Z -> Z -> Z) k bits :
  (forall v b, Rabs (IZR v) / two b * two k <= IZR (up v b)) -> forall p,
  dot (divided bits p) (divided bits p) * (two k * two k) <= IZR (dotZ (zip up p bits) (zip up p bits)).
Proof.
  intros H p. unfold divided. revert p; induction bits as [|b bits IH]; intros [|v p]; simpl; try lra.
  rewrite plus_IZR, mult_IZR. specialize (IH p). specialize (H v b).
  pose proof (two_pos b) as Pb. pose proof (two_pos k) as Pk.
  assert (E : IZR v / two b * (IZR v / two b) * (two k * two k)
              = (Rabs (IZR v) / two b * two k) * (Rabs (IZR v) / two b * two k)).
  { replace (Rabs (IZR v) / two b * two k * (Rabs (IZR v) / two b * two k))
      with ((Rabs (IZR v) * Rabs (IZR v)) * (/ two b * / two b) * (two k * two k)) by (field; lra).
    replace (Rabs (IZR v) * Rabs (IZR v)) with (IZR v * IZR v) by (rewrite <- Rabs_mult, Rabs_pos_eq; nra).
    field; lra. }
  assert (0 <= Rabs (IZR v) / two b * two k).
  { unfold Rdiv. pose proof (Rinv_0_lt_compat _ Pb). pose proof (Rabs_pos (IZR v)). apply Rmult_le_pos; nra. }
  rewrite Rmult_plus_distr_r, E. nra.
Qed.

Lemma sum_is_short bits rows : norm (divided bits (sum_of rows)) * (two fine * two fine) <= IZR (length_of_sum bits rows).
Proof.
  unfold length_of_sum. set (up := fun v b => _). pose proof (rounded_up up (2 * fine) bits) as H.
  assert (U : forall v b, Rabs (IZR v) / two b * two (2 * fine) <= IZR (up v b)).
  { intros v b. unfold up. rewrite opp_IZR.
    destruct (shiftr_floor (- Z.shiftl (Z.abs v) (2 * fine)) b) as [F _]. rewrite opp_IZR, shiftl_two, abs_IZR in F by (unfold fine; lia).
    replace (Rabs (IZR v) / two b * two (2 * fine)) with (- (- (Rabs (IZR v) * two (2 * fine)) / two b)); [lra|].
    field. pose proof (two_pos b); lra. }
  specialize (H U (sum_of rows)). set (n := dotZ _ _) in *.
  pose proof (sqrt_up n (dotZ_self _)) as S. rewrite <- norm_squared in H.
  assert (E : two (2 * fine) = two fine * two fine) by (replace (2 * fine)%Z with (fine + fine)%Z by ring; apply two_plus).
  rewrite E in H. pose proof (two_pos fine). apply Rsqr_incr_0_var.
  - unfold Rsqr. nra.
  - apply IZR_le. pose proof (Z.sqrt_nonneg n). lia.
Qed.

Lemma half_is_enough bits p half :
  is_half (sizes_up bits p) half = true -> two (- (2 * half)) * norm (divided bits p) <= 1.
Proof.
  unfold is_half. rewrite andb_true_iff, !Z.leb_le. intros [H0 H]. apply IZR_le in H. unfold sizes_up in H. set (up := fun v b => _) in H.
  assert (U : forall v b, Rabs (IZR v) / two b * two fine <= IZR (up v b)).
  { intros v b. unfold up. rewrite plus_IZR. destruct (shiftr_floor (Z.shiftl (Z.abs v) fine) b) as [_ F].
    rewrite shiftl_two, abs_IZR in F by (unfold fine; lia).
    replace (Rabs (IZR v) / two b * two fine) with (Rabs (IZR v) * two fine / two b); [lra|].
    field. pose proof (two_pos b); lra. }
  pose proof (rounded_up up fine bits U p) as R. rewrite <- norm_squared in R.
  rewrite shiftl_two in H by lia. replace (2 * (2 * half + fine))%Z with ((2 * half + fine) + (2 * half + fine))%Z in H by ring.
  rewrite !two_plus in H. pose proof (two_pos fine) as Pf. pose proof (two_pos (2 * half)) as Ph. pose proof (norm_pos (divided bits p)).
  set (n := norm (divided bits p)) in *.
  assert (K : n * two fine <= two (2 * half) * two fine) by (apply Rsqr_incr_0_var; [unfold Rsqr|]; nra).
  apply Rmult_le_reg_r in K; [|assumption].
  replace (- (2 * half))%Z with (0 - 2 * half)%Z by ring. rewrite two_minus, two_0.
  apply Rmult_le_reg_l with (two (2 * half)); [assumption|].
  replace (two (2 * half) * (1 / two (2 * half) * n)) with n by (field; lra). lra.
Qed.

(** Rounded down: off by less than 1 in each entry. *)
Lemma rounded_down bits p half w :
  let off := dot (reals (level bits p half)) w - two (fine - half) * dot (divided bits p) w in
  off * off <= INR (length bits) * dot w w.
Proof.
  set (e := add (reals (level bits p half)) (scale (- two (fine - half)) (divided bits p))).
  assert (E : dot e e <= INR (length bits)).
  { unfold e, level, divided. clear e w. revert p; induction bits as [|b bits IH]; intros [|v p]; cbn [zip reals map scale add dot length]; try lra; try apply pos_INR.
    rewrite S_INR. specialize (IH p).
    destruct (shiftr_floor (Z.shiftl v fine) (b + half)) as [L U]. rewrite shiftl_two in L, U by (unfold fine; lia).
    assert (Q : two (fine - half) * (IZR v / two b) = IZR v * two fine / two (b + half)).
    { rewrite two_minus, two_plus. field. pose proof (two_pos b). pose proof (two_pos half). lra. }
    set (x := IZR (Z.shiftr (Z.shiftl v fine) (b + half))) in *.
    assert (B : 0 <= - (x + - two (fine - half) * (IZR v / two b)) <= 1).
    { replace (- two (fine - half) * (IZR v / two b)) with (- (two (fine - half) * (IZR v / two b))) by ring. rewrite Q. lra. }
    set (z := x + - two (fine - half) * (IZR v / two b)) in *.
    assert (z * z <= 1) by nra. unfold scale in IH. lra. }
  intros off. replace off with (dot e w) by (unfold off, e; rewrite dot_add_l, dot_scale_l; ring).
  pose proof (cauchy_schwarz_squared e w). pose proof (dot_self w). nra.
Qed.

(** *** Together *)

Definition with_c (bits p : list Z) : list R * R := (divided bits p, two (- (2 * half_of (sizes_up bits p)))).

Theorem definite rows :
  is_definite rows = true -> forall w, (length w <= length (bits_of rows))%nat ->
  (forall p, In p rows -> 0 <= dot (reals p) w) -> Forall (eq 0) w.
Proof.
  unfold is_definite. set (bits := bits_of rows). rewrite !andb_true_iff, forallb_forall. intros [[Hh Hw] He] w Hlen Hp.
  set (v := stretched bits w).
  assert (Lv : (length v <= length bits)%nat).
  { unfold v, stretched. clear. generalize bits as l. intros l. revert w.
    induction l as [|b l IH]; intros [|x w]; simpl; try lia. specialize (IH w). lia. }
  assert (Z : dot v v = 0).
  { apply (positive_definite (map (with_c bits) rows)).
    - intros pc Hpc. apply in_map_iff in Hpc as [p [<- Hin]]. simpl.
      split; [left; apply two_pos | apply half_is_enough, Hh, Hin].
    - intros pc Hpc. apply in_map_iff in Hpc as [p [<- Hin]]. simpl. unfold v. rewrite dot_divided by assumption. auto.
    - intros N. pose proof (exceeds_sound _ _ _ He v Lv N) as X. rewrite map_map. simpl.
      rewrite (map_ext (fun p => divided bits p) (divided bits)) by reflexivity. rewrite divided_sum.
      (* a: the scores of the rounded rows; b: those of the rows themselves *)
      set (a := apply (map (level_row bits) rows) v) in *.
      set (b := map (fun p => two (fine - half_of (sizes_up bits p)) * dot (divided bits p) v) rows).
      assert (B : dot b b = two fine * two fine * energy (map (with_c bits) rows) v).
      { unfold b, energy. clearbody v. clear. generalize bits as l. clear bits. intros l. unfold total, with_c.
        induction rows as [|p rows IH]; cbn [map dot fold_right fst snd] in *; [ring|]. rewrite IH.
        replace (- (2 * half_of (sizes_up l p)))%Z with (- half_of (sizes_up l p) + - half_of (sizes_up l p))%Z by ring.
        replace (fine - half_of (sizes_up l p))%Z with (fine + - half_of (sizes_up l p))%Z by ring. rewrite !two_plus. ring. }
      assert (D : dot (add a (scale (-1) b)) (add a (scale (-1) b)) <= INR (length rows) * INR (length bits) * dot v v).
      { unfold a, b, apply. rewrite map_map. clearbody v. clear. generalize bits as l. clear bits. intros l. induction rows as [|p rows IH]; cbn [map dot length add scale]; [simpl; lra|].
        rewrite S_INR. pose proof (rounded_down l p (half_of (sizes_up l p)) v) as R. cbv zeta in R. fold (level_row l p) in R. unfold scale in IH. lra. }
      unfold least_for in X. set (s := (Z.sqrt (length_of_sum bits rows) + 1)%Z) in *.
      set (q := (Z.sqrt (Z.of_nat (length rows) * Z.of_nat (length bits)) + 1)%Z).
      replace (s + Z.sqrt (Z.of_nat (length rows) * Z.of_nat (length bits)) + 1)%Z with (s + q)%Z in X by (unfold q; ring).
      pose proof (sum_is_short bits rows) as S1.
      assert (S2 : IZR (length_of_sum bits rows) <= IZR s * IZR s).
      { apply sqrt_up. unfold length_of_sum. pose proof (Z.sqrt_nonneg (dotZ (zip (fun v b => - Z.shiftr (- Z.shiftl (Z.abs v) (2 * fine)) b)%Z (sum_of rows) bits) (zip (fun v b => - Z.shiftr (- Z.shiftl (Z.abs v) (2 * fine)) b)%Z (sum_of rows) bits))). lia. }
      assert (Q2 : INR (length rows) * INR (length bits) <= IZR q * IZR q).
      { rewrite !INR_IZR_INZ, <- mult_IZR. apply sqrt_up. lia. }
      assert (Hs : 0 <= IZR s) by (apply IZR_le; unfold s; pose proof (Z.sqrt_nonneg (length_of_sum bits rows)); lia).
      assert (Hq : 0 <= IZR q) by (apply IZR_le; unfold q; pose proof (Z.sqrt_nonneg (Z.of_nat (length rows) * Z.of_nat (length bits))); lia).
      pose proof (norm_pos v) as Pv. pose proof (norm_squared v) as Sv. pose proof (dot_self v) as Dv.
      rewrite mult_IZR, plus_IZR, <- (norm_squared a), <- Sv in X. rewrite <- norm_squared, <- Sv in D.
      set (c := add a (scale (-1) b)) in *.
      pose proof (norm_pos a). pose proof (norm_pos c) as Pc. pose proof (norm_pos b) as Pb.
      assert (A1 : (IZR s + IZR q) * norm v < norm a) by (apply Rsqr_incrst_0; unfold Rsqr; nra).
      assert (C1 : norm c <= IZR q * norm v).
      { apply Rsqr_incr_0_var; [unfold Rsqr | nra].
        assert (INR (length rows) * INR (length bits) * (norm v * norm v) <= IZR q * IZR q * (norm v * norm v)) by (apply Rmult_le_compat_r; nra). lra. }
      assert (T : norm a <= norm c + norm b).
      { replace (norm a) with (norm (add c b)); [apply triangle|]. unfold norm. f_equal.
        assert (Ex : forall x, dot (add c b) x = dot a x) by (intros; unfold c; rewrite !dot_add_l, dot_scale_l; ring).
        rewrite Ex, dot_comm, Ex. reflexivity. }
      assert (B1 : IZR s * norm v < norm b) by lra.
      assert (B2 : IZR s * IZR s * (norm v * norm v) < dot b b).
      { rewrite <- norm_squared. assert (0 <= IZR s * norm v) by nra. nra. }
      rewrite B in B2. pose proof (two_pos fine) as Pf. rewrite Sv in B2.
      assert (norm (divided bits (sum_of rows)) * (two fine * two fine) * dot v v <= IZR s * IZR s * dot v v) by (apply Rmult_le_compat_r; lra).
      apply Rmult_lt_reg_l with (two fine * two fine); [nra|]. lra. }
  apply dot_self_0 in Z. unfold v, stretched in Z. clear -Z Hlen. revert Z Hlen. generalize bits as l. clear. intros l Z H. revert w H Z; induction l as [|b l IH]; intros [|x w] H Z; simpl in *; try lia; constructor.
  - inversion_clear Z as [|? ? E _]. pose proof (two_pos b). nra.
  - inversion_clear Z as [|? ? _ E]. apply IH; auto; lia.
Qed.

(** ** The obstruction, and the rows that it spans *)

(** The rows u·z, the weights divided by their common factor. *)
Definition definite_rows (l : combination) : list (list Z) :=
  let g := fold_right Z.gcd 0%Z (map fst l) in
  let t := top l in
  map (fun ur => map (fun v => Z.shiftl (fst ur / g * v) (t - shift (snd ur))) (entries (snd ur))) l.

Definition is_definite_obstruction (l : combination) (deps : list dependence) : bool :=
  let g := fold_right Z.gcd 0%Z (map fst l) in
  let rows := definite_rows l in
  let m := kept rows deps in
  let picked := map (pick m) rows in
  forallb (fun ur => (0 <? fst ur / g)%Z) l && is_chain deps && forallb (fun ur => vanish deps (entries (snd ur))) l
  && (length (bits_of picked) =? length (pick m m))%nat && is_definite picked.

Lemma vanish_scaled deps c k z : (0 <= k)%Z -> vanish deps z = true -> vanish deps (map (fun v => Z.shiftl (c * v) k) z) = true.
Proof.
  intros Hk. unfold vanish. rewrite !forallb_forall. intros H d Hd. specialize (H d Hd). apply Z.eqb_eq in H. apply Z.eqb_eq.
  assert (E : forall f, dotZ (map (fun v => Z.shiftl (c * v) k) z) f = (c * 2 ^ k * dotZ z f)%Z).
  { clear H. induction z as [|v z IH]; intros [|x f]; simpl; try ring. rewrite IH, Z.shiftl_mul_pow2 by assumption. ring. }
  rewrite E, H. ring.
Qed.

Lemma inside_occupied rows z : In z rows -> inside (occupied rows) z = true.
Proof.
  intros Hz. assert (H : forall j, nth j (occupied rows) false = false -> nth j z 0%Z = 0%Z) by (intros; eapply occupied_zero; eauto).
  revert H. generalize (occupied rows) as mask. clear. induction z as [|v z IH]; intros [|m mask] H; simpl; auto.
  - pose proof (H 0%nat eq_refl) as E. simpl in E. subst v. simpl.
    apply forallb_forall. intros x Hx. apply Z.eqb_eq. destruct (In_nth z x 0%Z Hx) as [j [_ <-]]. symmetry. apply (H (S j)). destruct j; reflexivity.
  - rewrite IH by (intros j Hj; apply (H (S j) Hj)). destruct m; simpl; auto.
    pose proof (H 0%nat eq_refl) as E. simpl in E. subst v. reflexivity.
Qed.

Theorem definite_spread l deps w :
  is_definite_obstruction l deps = true -> (forall ur, In ur l -> 0 <= score (snd ur) w) ->
  (forall ur, In ur l -> score (snd ur) w = 0) /\
  (forall r, is_spanned (definite_rows l) deps (entries r) = true -> score r w = 0).
Proof.
  unfold is_definite_obstruction. rewrite !andb_true_iff, !forallb_forall, Nat.eqb_eq. intros [[[[Hu Hc] Hv] Hlen] Hd] Hw.
  set (g := fold_right Z.gcd 0%Z (map fst l)) in *. set (rows := definite_rows l) in *.
  assert (Ht : forall ur, In ur l -> (shift (snd ur) <= top l)%Z).
  { intros ur Hin. apply max_le, (in_map (fun ur => shift (snd ur)) l ur Hin). }
  assert (Hrow : forall ur, In ur l ->
    let p := map (fun v => Z.shiftl (fst ur / g * v) (top l - shift (snd ur))) (entries (snd ur)) in
    In p rows /\ dot (reals p) w = two (top l) * (IZR (fst ur / g) * score (snd ur) w) /\ vanish deps p = true).
  { intros ur Hin p. repeat split.
    - unfold rows, definite_rows. fold g. apply (in_map (fun ur => map (fun v => Z.shiftl (fst ur / g * v) (top l - shift (snd ur))) (entries (snd ur))) l ur Hin).
    - unfold p. apply shifted. auto.
    - unfold p. apply vanish_scaled; [specialize (Ht ur Hin); lia | auto]. }
  assert (Hof : forall z, In z rows -> exists ur, In ur l /\ z = map (fun v => Z.shiftl (fst ur / g * v) (top l - shift (snd ur))) (entries (snd ur))).
  { intros z Hz. unfold rows, definite_rows in Hz. fold g in Hz. apply in_map_iff in Hz as [ur [<- Hin]]. eauto. }
  assert (S : forall z, is_spanned rows deps z = true -> dot (reals z) w = 0).
  { apply (span (Rle 0) rows deps Hc).
    - apply forallb_forall. intros z Hz. apply Hof in Hz as [ur [Hin ->]]. apply Hrow, Hin.
    - intros v Hnn Hl. apply (definite _ Hd).
      + rewrite Hlen. exact Hl.
      + intros z Hz. apply in_map_iff in Hz as [x [<- Hx]]. auto.
    - intros z Hz. apply Hof in Hz as [ur [Hin ->]]. destruct (Hrow ur Hin) as [_ [-> _]].
      pose proof (two_pos (top l)). specialize (Hu ur Hin). apply Z.ltb_lt, IZR_lt in Hu. specialize (Hw ur Hin).
      apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
  split.
  - intros ur Hin. destruct (Hrow ur Hin) as [A [B C]].
    rewrite S in B by (unfold is_spanned; rewrite C, inside_occupied by assumption; reflexivity).
    pose proof (two_pos (top l)). specialize (Hu ur Hin). apply Z.ltb_lt, IZR_lt in Hu.
    assert (0 < two (top l) * IZR (fst ur / g)) by nra. nra.
  - intros r Hr. unfold score. rewrite S by assumption. unfold Rdiv. ring.
Qed.
End Factor.
