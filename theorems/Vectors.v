(** Vectors are lists: of integers ([Z]) where a checker computes with them, of reals where a theorem speaks of them.

    The product of two lists ends with the shorter one, and a sum is as long as the longer one, as if both went on with
    zeros. So the lemmas below need nothing about lengths. *)

From Coq Require Import ZArith Reals List Lia Lra.
Import ListNotations.
Open Scope R_scope.

Fixpoint dot (a b : list R) : R :=
  match a, b with
  | x :: a', y :: b' => x * y + dot a' b'
  | _, _ => 0
  end.

Fixpoint add (a b : list R) : list R :=
  match a, b with
  | x :: a', y :: b' => x + y :: add a' b'
  | [], _ => b
  | _, [] => a
  end.

Definition scale (c : R) (a : list R) : list R := map (Rmult c) a.

Definition total (l : list R) : R := fold_right Rplus 0 l.

(** The length of a vector. *)
Definition norm (a : list R) : R := sqrt (dot a a).

(** The same in integers. *)
Fixpoint dotZ (a b : list Z) : Z :=
  match a, b with
  | x :: a', y :: b' => (x * y + dotZ a' b')%Z
  | _, _ => 0%Z
  end.

Fixpoint addZ (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => (x + y)%Z :: addZ a' b'
  | [], _ => b
  | _, [] => a
  end.

Definition scaleZ (c : Z) (a : list Z) : list Z := map (Z.mul c) a.

Definition totalZ (l : list Z) : Z := fold_right Z.add 0%Z l.

Definition reals : list Z -> list R := map IZR.

(** Powers of two. *)
Definition two (k : Z) : R := powerRZ 2 k.

Lemma two_pos k : 0 < two k.
Proof. apply powerRZ_lt; lra. Qed.

Lemma two_plus a b : two (a + b) = two a * two b.
Proof. apply powerRZ_add; lra. Qed.

Lemma two_minus a b : two (a - b) = two a / two b.
Proof.
  pose proof (two_pos b). replace (two a) with (two (a - b + b)) by (f_equal; lia).
  rewrite two_plus. field. lra.
Qed.

Lemma two_0 : two 0 = 1.
Proof. reflexivity. Qed.

Lemma two_Z k : (0 <= k)%Z -> two k = IZR (2 ^ k).
Proof.
  intros H. unfold two. rewrite <- (Z2Nat.id k H), <- pow_powerRZ, <- pow_IZR. reflexivity.
Qed.

Lemma shiftl_two a k : (0 <= k)%Z -> IZR (Z.shiftl a k) = IZR a * two k.
Proof. intros H. rewrite Z.shiftl_mul_pow2, mult_IZR, two_Z by assumption. reflexivity. Qed.

(** Products. *)
Lemma dot_nil_r a : dot a [] = 0.
Proof. destruct a; reflexivity. Qed.

Lemma dot_comm a b : dot a b = dot b a.
Proof. revert b; induction a; destruct b; simpl; auto. rewrite IHa; ring. Qed.

Lemma dot_add_l a b w : dot (add a b) w = dot a w + dot b w.
Proof.
  revert b w; induction a as [|x a IH]; intros [|y b] [|z w]; simpl; try ring.
  rewrite IH; ring.
Qed.

Lemma dot_add_r w a b : dot w (add a b) = dot w a + dot w b.
Proof. rewrite dot_comm, dot_add_l, (dot_comm a), (dot_comm b). reflexivity. Qed.

Lemma dot_scale_l c a w : dot (scale c a) w = c * dot a w.
Proof. revert w; induction a; destruct w; simpl; try ring. rewrite IHa; ring. Qed.

Lemma dot_scale_r c w a : dot w (scale c a) = c * dot w a.
Proof. rewrite dot_comm, dot_scale_l, dot_comm; reflexivity. Qed.

Lemma dot_zeros a w : Forall (eq 0) a -> dot a w = 0.
Proof. intros H; revert w; induction H; destruct w; simpl; auto. rewrite IHForall; subst; ring. Qed.

Lemma dot_app a b u v : length a = length u -> dot (a ++ b) (u ++ v) = dot a u + dot b v.
Proof.
  revert u; induction a; destruct u; simpl; intros; try discriminate; try ring.
  rewrite IHa by lia; ring.
Qed.

Lemma dot_self a : 0 <= dot a a.
Proof. induction a; simpl; [lra | nra]. Qed.

Lemma dot_self_0 a : dot a a = 0 -> Forall (eq 0) a.
Proof.
  induction a as [|x a IH]; simpl; intros H; constructor; pose proof (dot_self a); [nra | apply IH; nra].
Qed.

(** Integers as reals. *)
Lemma dot_reals a b : dot (reals a) (reals b) = IZR (dotZ a b).
Proof. revert b; induction a; destruct b; simpl; auto. rewrite IHa, plus_IZR, mult_IZR; reflexivity. Qed.

Lemma reals_add a b : reals (addZ a b) = add (reals a) (reals b).
Proof. revert b; induction a; destruct b; simpl; auto. rewrite IHa, plus_IZR; reflexivity. Qed.

Lemma reals_scale c a : reals (scaleZ c a) = scale (IZR c) (reals a).
Proof. induction a; simpl; auto. rewrite IHa, mult_IZR; reflexivity. Qed.

(** Lengths: the inequality of Cauchy and Schwarz, and that of the triangle. *)
Lemma cauchy_schwarz_squared a b : dot a b * dot a b <= dot a a * dot b b.
Proof.
  pose proof (dot_self a) as Ha. pose proof (dot_self b) as Hb.
  set (v := add (scale (dot b b) a) (scale (- dot a b) b)).
  assert (E : dot v v = dot b b * (dot a a * dot b b - dot a b * dot a b)).
  { unfold v. rewrite !dot_add_l, !dot_add_r, !dot_scale_l, !dot_scale_r, (dot_comm b a). ring. }
  pose proof (dot_self v) as Hv. rewrite E in Hv.
  destruct (Req_dec (dot b b) 0) as [Z|N]; [|nra].
  rewrite (dot_comm a b), (dot_zeros b a) by (apply dot_self_0; assumption).
  pose proof (Rmult_le_pos _ _ Ha Hb). lra.
Qed.

Lemma norm_pos a : 0 <= norm a.
Proof. apply sqrt_pos. Qed.

Lemma norm_squared a : norm a * norm a = dot a a.
Proof. apply sqrt_sqrt, dot_self. Qed.

Lemma cauchy_schwarz a b : dot a b <= norm a * norm b.
Proof.
  pose proof (norm_pos a). pose proof (norm_pos b).
  pose proof (cauchy_schwarz_squared a b) as H1. rewrite <- !norm_squared in H1.
  apply Rsqr_incr_0_var; [unfold Rsqr; nra | apply Rmult_le_pos; assumption].
Qed.

Lemma triangle a b : norm (add a b) <= norm a + norm b.
Proof.
  pose proof (norm_pos a). pose proof (norm_pos b). pose proof (norm_pos (add a b)).
  pose proof (norm_squared (add a b)) as H2. rewrite dot_add_l, !dot_add_r, (dot_comm b a) in H2.
  pose proof (cauchy_schwarz a b). pose proof (norm_squared a). pose proof (norm_squared b).
  apply Rsqr_incr_0_var; [unfold Rsqr; nra | lra].
Qed.

Lemma norm_scale c a : 0 <= c -> norm (scale c a) = c * norm a.
Proof.
  intros H. unfold norm. rewrite dot_scale_l, dot_scale_r, <- Rmult_assoc.
  rewrite sqrt_mult by (auto using dot_self; nra). rewrite sqrt_square by assumption. reflexivity.
Qed.
