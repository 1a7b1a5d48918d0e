(** Problem 1 in d dimensions is Problem 2 in d + 1.

    Problem 1: find a hyperplane that separates the classes. Problem 2: find one through the origin. Append 1 to each x, and b
    to w: then W·X = w·x + b, so each answer to the one is an answer to the other. The Perceptron takes the same
    steps on both. *)

From Coq Require Import Reals List Lia Lra.
From Linsep Require Import Vectors Novikoff.
Import ListNotations.
Open Scope R_scope.

Definition problem_1 (d : nat) (rows : list example) (w : list R) (b : R) : Prop :=
  length w = d /\ forall x y, In (x, y) rows -> 0 < y * (dot w x + b).

Definition problem_2 (d : nat) (rows : list example) (w : list R) : Prop :=
  length w = d /\ forall x y, In (x, y) rows -> 0 < y * dot w x.

Definition lifted (rows : list example) : list example := map (fun r => (fst r ++ [1], snd r)) rows.

Definition fits (d : nat) (rows : list example) : Prop := forall x y, In (x, y) rows -> length x = d.

Lemma in_lifted rows x y : In (x, y) rows -> In (x ++ [1], y) (lifted rows).
Proof. apply (in_map (fun r => (fst r ++ [1], snd r)) rows (x, y)). Qed.

Lemma from_lifted rows X y : In (X, y) (lifted rows) -> exists x, X = x ++ [1] /\ In (x, y) rows.
Proof. intros H. apply in_map_iff in H as [[x c] [E H]]. injection E as <- <-. eauto. Qed.

Lemma dot_lifted w x b : length w = length x -> dot (w ++ [b]) (x ++ [1]) = dot w x + b.
Proof. intros H. rewrite dot_app by assumption. simpl. ring. Qed.

Theorem one_to_two d rows w b : fits d rows -> problem_1 d rows w b -> problem_2 (S d) (lifted rows) (w ++ [b]).
Proof.
  intros Hf [Hl H]. split; [rewrite app_length, Hl; simpl; lia|].
  intros X y HX. apply from_lifted in HX as [x [-> Hx]]. rewrite dot_lifted; auto. rewrite (Hf x y Hx); assumption.
Qed.

Theorem two_to_one d rows W : fits d rows -> problem_2 (S d) (lifted rows) W -> exists w b, W = w ++ [b] /\ problem_1 d rows w b.
Proof.
  intros Hf [Hl H]. destruct (exists_last (l := W)) as [w [b ->]]; [intros ->; discriminate|].
  rewrite app_length in Hl; simpl in Hl. exists w, b. repeat split; [lia|].
  intros x y Hx. specialize (H _ _ (in_lifted _ _ _ Hx)). rewrite dot_lifted in H; auto. rewrite (Hf x y Hx); lia.
Qed.

Lemma repeat_last k : repeat 0 (S k) = repeat 0 k ++ [0].
Proof. induction k; simpl in *; congruence. Qed.

Lemma add_length w y x : length w = length x -> length (add w (scale y x)) = length w.
Proof. revert x; induction w; destruct x; simpl; intros; try lia. rewrite IHw; lia. Qed.

Lemma add_lifted w y x b : length w = length x -> add (w ++ [b]) (scale y (x ++ [1])) = add w (scale y x) ++ [b + y * 1].
Proof. revert x; induction w; destruct x; simpl; intros; try lia; auto. rewrite IHw by lia. reflexivity. Qed.

(** Every run with a bias is a run through the origin on the lifted rows, update for update. *)
Theorem same_run d rows m k w b :
  fits d rows -> run d rows 1 m k w b -> length w = d /\ run (S d) (lifted rows) 0 m k (w ++ [b]) 0.
Proof.
  intros Hf. induction 1 as [|k w b x y Hr [Hl IH] Hin Hm].
  - rewrite repeat_length. split; auto. rewrite <- repeat_last. constructor.
  - assert (L : length w = length x) by (rewrite (Hf x y Hin); assumption).
    rewrite add_length by assumption. split; auto. rewrite <- add_lifted by assumption.
    assert (U : run (S d) (lifted rows) 0 m (S k) (add (w ++ [b]) (scale y (x ++ [1]))) (0 + y * 0)).
    { constructor; auto using in_lifted. rewrite dot_lifted by assumption. lra. }
    replace (0 + y * 0) with 0 in U by ring. exact U.
Qed.
