(** The two ends of the margin.

    Low: where z·w >= low·|w| for every row, in integers, every point is at least [low] away from the hyperplane, on its side.
    The bias does not count in |w|.

    High: some rows, the nearest, have positive weights u. With a bias the two classes get the same total weight, so that the
    sum Σ u z has 0 for the constant and is half the total weight times p - q, the difference of the class means. A hyperplane
    with margin m has Σ u (z·w) >= m·|w|·Σu, and by Cauchy and Schwarz Σ u (z·w) <= |Σ u z|·|w|. So m <= |Σ u z|/Σu,
    which is at most [high]: that is the check. *)

From Coq Require Import ZArith Reals List Bool Lia Lra.
From Linsep Require Import Vectors Rows Separator Obstruction.
Import ListNotations.
Open Scope R_scope.

(** A number a/2^k, as a double has it. *)
Definition dyadic (v : Z * Z) : R := IZR (fst v) / two (snd v).

(** ** The low end *)

Definition is_far (low : Z * Z) (w : list Z) (score : Z) (k : Z) : bool :=
  (0 <=? fst low)%Z && (0 <=? snd low)%Z && (0 <=? k)%Z &&
  (Z.shiftl (fst low * fst low * dotZ w w) (2 * k) <=? Z.shiftl (score * score) (2 * snd low))%Z.

Lemma squares a b : 0 <= b -> a * a <= b * b -> a <= b.
Proof. intros Hb H. apply Rsqr_incr_0_var; assumption. Qed.

Theorem far low w full r :
  is_far low w (score_of full r) (shift r) = true -> (0 <= score_of full r)%Z ->
  dyadic low * norm (reals w) <= score r (reals full).
Proof.
  unfold is_far. rewrite !andb_true_iff, !Z.leb_le. intros [[[Ha Hk] Hs] H] H0.
  apply IZR_le in H, Ha, H0. rewrite !shiftl_two, !mult_IZR in H by lia.
  replace (2 * shift r)%Z with (shift r + shift r)%Z in H by ring.
  replace (2 * snd low)%Z with (snd low + snd low)%Z in H by ring.
  rewrite !two_plus, <- dot_reals, <- norm_squared in H.
  rewrite score_of_real. unfold dyadic.
  pose proof (two_pos (shift r)) as P1. pose proof (two_pos (snd low)) as P2. pose proof (norm_pos (reals w)) as P3.
  set (A := IZR (fst low)) in *. set (N := norm (reals w)) in *. set (S := IZR (score_of full r)) in *.
  set (q := two (shift r)) in *. set (k := two (snd low)) in *.
  assert (E : A * N * q <= S * k) by (apply squares; [apply Rmult_le_pos; lra | nra]).
  apply Rmult_le_reg_r with (k * q); [nra|].
  replace (A / k * N * (k * q)) with (A * N * q) by (field; lra).
  replace (S / q * (k * q)) with (S * k) by (field; lra). assumption.
Qed.

(** ** The high end *)

Definition reach (l : combination) : Z := totalZ (map fst l).

Definition is_plus (r : row) : bool := (0 <? last (entries r) 0)%Z.

(** With a bias: the weights that give both classes the same total. *)
Definition balanced (bias : bool) (l : combination) : combination :=
  if bias then
    let plus := reach (filter (fun ur => is_plus (snd ur)) l) in
    let minus := (reach l - plus)%Z in
    map (fun ur => ((fst ur * (if is_plus (snd ur) then minus else plus))%Z, snd ur)) l
  else l.

(** The sum without the constant, which must be 0. *)
Definition without_constant (bias : bool) (d : nat) (sum : list Z) : option (list Z) :=
  if bias then
    if (length sum =? S d)%nat && (last sum 0 =? 0)%Z then Some (removelast sum) else None
  else Some sum.

Definition is_near (bias : bool) (d : nat) (l : combination) (high : Z * Z) : bool :=
  let l' := balanced bias l in
  all_positive l' && (0 <? reach l')%Z && (0 <=? fst high)%Z && (0 <=? snd high)%Z &&
  match without_constant bias d (add_up l') with
  | None => false
  | Some v =>
      (Z.shiftl (dotZ v v) (2 * snd high) <=? Z.shiftl ((fst high * reach l') * (fst high * reach l')) (2 * top l'))%Z
  end.

Lemma reach_weighted l w c :
  all_positive l = true -> (forall ur, In ur l -> c <= score (snd ur) w) -> IZR (reach l) * c <= weighted l w.
Proof.
  unfold all_positive, reach, weighted. rewrite forallb_forall. intros Hu Hw.
  induction l as [|a l IH]; simpl in *; [lra|]. rewrite plus_IZR.
  assert (0 < IZR (fst a)) by (apply IZR_lt, Z.ltb_lt, Hu; auto).
  assert (c <= score (snd a) w) by auto. assert (IZR (totalZ (map fst l)) * c <= weighted l w) by (apply IH; auto).
  unfold weighted in *. nra.
Qed.

Lemma constant_does_not_count bias d sum v w b :
  without_constant bias d sum = Some v -> is_hyperplane bias d w b ->
  dot (reals sum) (weights_of bias w b) = dot (reals v) w.
Proof.
  unfold without_constant, is_hyperplane, weights_of. destruct bias; [|intros H _; injection H as <-; reflexivity].
  destruct (_ && _) eqn:E; [|discriminate]. intros H [Hl _]. injection H as <-.
  apply andb_true_iff in E as [E1 E2]. apply Nat.eqb_eq in E1. apply Z.eqb_eq in E2.
  assert (N : sum <> []) by (intros ->; discriminate).
  rewrite (app_removelast_last 0%Z N) in E1 |- * at 1. rewrite app_length in E1. simpl in E1.
  unfold reals. rewrite map_app, dot_app by (rewrite map_length; lia). rewrite E2. simpl. ring.
Qed.

Lemma top_nonneg l : (0 <= top l)%Z.
Proof. unfold top. induction (map _ l); simpl; lia. Qed.

Theorem near bias points d l high w b m :
  (forall p, In p points -> length (values p) = d) ->
  (forall ur, In ur l -> In (snd ur) (map (signed_row bias 1) points)) -> is_near bias d l high = true ->
  is_hyperplane bias d w b -> 0 < norm w -> (forall p, In p points -> m * norm w <= side 1 p w b) -> m <= dyadic high.
Proof.
  intros Hd Hl H Hw Hn Hm. unfold is_near in H. set (l' := balanced bias l) in *.
  rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in H. destruct H as [[[[Hu Hr] Ha] Hk] H].
  destruct (without_constant bias d (add_up l')) as [v|] eqn:Ev; [|discriminate]. apply Z.leb_le in H.
  assert (Hs : forall ur, In ur l' -> m * norm w <= score (snd ur) (weights_of bias w b)).
  { intros ur Hin. assert (Hin' : exists u, In (u, snd ur) l).
    { unfold l', balanced in Hin. destruct bias; [|exists (fst ur); destruct ur; assumption].
      apply in_map_iff in Hin as [[u r] [<- Hin]]. exists u. assumption. }
    destruct Hin' as [u Hin']. apply Hl in Hin'. simpl in Hin'. apply in_map_iff in Hin' as [p [<- Hp]].
    rewrite score_signed_row by (lia || (rewrite Hd by assumption; assumption)). rewrite Rmult_1_l. auto. }
  pose proof (reach_weighted l' _ _ Hu Hs) as E1.
  pose proof (add_up_weighted l' (weights_of bias w b)) as E2.
  rewrite (constant_does_not_count bias d _ v) in E2 by assumption.
  pose proof (cauchy_schwarz (reals v) w) as E3.
  pose proof (top_nonneg l') as Ht. apply IZR_le in H, Ha. apply IZR_lt in Hr.
  rewrite !shiftl_two, !mult_IZR in H by lia.
  replace (2 * snd high)%Z with (snd high + snd high)%Z in H by ring.
  replace (2 * top l')%Z with (top l' + top l')%Z in H by ring.
  rewrite !two_plus, <- dot_reals, <- norm_squared in H.
  pose proof (two_pos (top l')) as P1. pose proof (two_pos (snd high)) as P2. pose proof (norm_pos (reals v)) as P3.
  unfold dyadic. set (A := IZR (fst high)) in *. set (S := IZR (reach l')) in *.
  set (q := two (top l')) in *. set (k := two (snd high)) in *. set (V := norm (reals v)) in *.
  assert (E4 : V * k <= A * S * q).
  { apply squares; [apply Rmult_le_pos; [apply Rmult_le_pos|]; lra | nra]. }
  assert (E5 : q * (S * m) * norm w <= V * norm w) by nra.
  apply Rmult_le_reg_r in E5; [|assumption].
  apply Rmult_le_reg_r with (k * (q * S)); [apply Rmult_lt_0_compat; nra|].
  replace (A / k * (k * (q * S))) with (A * S * q) by (field; lra).
  apply Rle_trans with (V * k); [|assumption].
  replace (m * (k * (q * S))) with (q * (S * m) * k) by ring. apply Rmult_le_compat_r; lra.
Qed.
