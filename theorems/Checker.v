(** The checker: what a written proof claims, what is computed again, and that a claim which passes is true.

    [check] looks at the same things as `python -m linsep.checker`, in the same order. It is extracted to OCaml; a shell
    that is not proved reads the files and prints the words. [check_sound] is what VERIFIED means. *)

From Coq Require Import ZArith Reals List Bool Arith Lia Lra Permutation.
From Linsep Require Import Vectors Rows Separator Obstruction Spread Margin Tables Mistakes PositiveDefinite.
Import ListNotations.

(** ** What a proof claims *)

(** Row numbers and weights, as the proof has them. *)
Definition written := (list Z * list Z)%type.

Record definite_proof := DefiniteProof { definite_of : written; dependences : list written }.

Record margin_proof := MarginProof { low : Z * Z; high : option ((Z * Z) * written) }.

Record mistakes_proof := MistakesProof {
  costs : option (list Z);
  unit_is_1 : bool;
  least : Z;
  copies : list (list Z);
  mistaken_rows : list Z;
  obstructions : list written;
  definite_obstructions : list definite_proof;
  leaves : list leaf
}.

Inductive claim :=
  | Separable (w : list Z) (b : Z) (margin : option margin_proof)
  | Touching (w : list Z) (b : Z) (obstruction : written) (separated : option (list Z * written))
  | Overlapping (obstruction spread : written)
  | NotSeparable (obstruction : written)
  | DefiniteTouching (w : list Z) (b : Z) (definite : definite_proof) (separated : option (list Z))
  | DefiniteOverlapping (definite : definite_proof)
  | DefiniteNotSeparable (definite : definite_proof)
  | FewestMistakes (w : list Z) (b : Z) (bound : mistakes_proof).

(** What it is about: with a bias or not, 10^38 for decimals and else 1, and the number of columns. Of joint scores the block of the
    first class may be spared: its columns are left out of the rows, and its weights are taken off from those of all blocks. *)
Record frame := Frame { with_bias : bool; one : Z; columns : nat; spare : nat }.

Definition width (f : frame) : nat := ((if with_bias f then S (columns f) else columns f) - spare f)%nat.

(** Take b off from w, block by block; [rest] is what is left of b in this block. *)
Fixpoint less {A} (sub : A -> A -> A) (b rest w : list A) : list A :=
  match w with
  | [] => []
  | v :: w' => match rest with
               | c :: rest' => sub v c :: less sub b rest' w'
               | [] => match b with [] => w | c :: rest' => sub v c :: less sub b rest' w' end
               end
  end.

(** ** The checks *)
Open Scope Z_scope.

Fixpoint each_row (f : Z -> row -> outcome unit) (t : list (Z * row)) : outcome unit :=
  match t with
  | [] => Fine tt
  | (i, r) :: t' => match f i r with Fine _ => each_row f t' | other => other end
  end.

(** Is the row on its side, and far enough from the hyperplane? *)
Definition check_side (full : list Z) (w : list Z) (is_strict : bool) (far_off : option (Z * Z)) (i : Z) (r : row) : outcome unit :=
  let s := score_of full r in
  let* _ := need ((if is_strict then 1 else 0) <=? s) (WrongSide i) in
  match far_off with
  | None => Fine tt
  | Some l => need (is_far l w s (shift r)) (TooNear i)
  end.

(** The weights that rows are multiplied by. *)
Definition full_weights (f : frame) (w : list Z) (b : Z) : list Z :=
  let full := integer_weights (with_bias f) w b in
  match spare f with O => full | _ => less Z.sub (firstn (spare f) full) [] (skipn (spare f) full) end.

(** The first pass over the rows. *)
Definition check_rows (f : frame) (c : claim) (t : list (Z * row)) : outcome unit :=
  match c with
  | Separable w b m => each_row (check_side (full_weights f w b) w true (option_map low m)) t
  | Touching w b _ _ | DefiniteTouching w b _ _ => each_row (check_side (full_weights f w b) w false None) t
  | _ => Fine tt
  end.

(** What is looked at before and while the rows are read: the shell asks it where a row cannot be read, for what comes first counts. *)
Definition read_first (part : written) : outcome unit :=
  let* _ := read_combination (fst part) (snd part) in Fine tt.

Definition check_first (f : frame) (c : claim) (t : list (Z * row)) : outcome unit :=
  let parts := match c with
    | Separable _ _ (Some (MarginProof _ (Some (_, nearest)))) => [nearest]
    | Separable _ _ _ | FewestMistakes _ _ _ => []
    | Touching _ _ obstruction (Some (_, spread)) | Overlapping obstruction spread => [obstruction; spread]
    | Touching _ _ obstruction None | NotSeparable obstruction => [obstruction]
    | DefiniteTouching _ _ d _ | DefiniteOverlapping d | DefiniteNotSeparable d => [definite_of d]
    end in
  let* _ := each read_first parts in
  check_rows f c t.

(** Every row that is named exists. *)
Definition check_named (named : list Z) (t : list (Z * row)) : outcome unit :=
  let rows := table t in
  match filter (fun i => negb (is_some (get i rows))) named with
  | [] => Fine tt
  | missing => Refuted (NoSuchRow (least_of missing))
  end.

Definition smallest (part : list (Z * Z)) : Z := least_of (map fst part).

Definition check_cancels (l : combination) (part : list (Z * Z)) : outcome unit := need (cancels l) (NotCancelling (smallest part)).

Definition is_strict (full : list Z) (r : row) : bool := 0 <? score_of full r.

(** All rows but those that the weights have on their sides are in the span. *)
Definition check_span (full : list Z) (rows : list (list Z)) (deps : list dependence) (t : list (Z * row)) : outcome unit :=
  let inner := occupied rows in
  each_row (fun i r => need (is_strict full r || (inside inner (entries r) && vanish deps (entries r))) (NotSpanned i)) t.

Section Hints.
(** Dependences of the columns on some rows, and a triangular factor of a matrix: from anywhere. *)
Variable null : list (list Z) -> list dependence.
Variable factor : list (list Z) -> Z -> option (list (list Z)).

(** What the rows of a spread vanish on. *)
Definition forms_of (rows : list (list Z)) : outcome (list dependence) :=
  if describes rows [] then Fine []
  else let deps := null rows in let* _ := require (describes rows deps) Unsupported in Fine deps.

Definition read_dependence (width : Z) (d : written) (owns : list Z) : outcome dependence :=
  match pairs (fst d) (snd d), fst d with
  | Some pairs, first :: _ =>
      let* _ := require (distinct (fst d)) BadDependence in
      let* _ := require (forallb (fun j => j <? width) (fst d) && forallb (fun v => negb (v =? 0)) (snd d)) BadColumn in
      let* _ := require (forallb (fun j => negb (existsb (Z.eqb j) owns)) (fst d)) OwnColumn in
      Fine (Dependence (Z.to_nat first)
             (fold_right (fun jv => addZ (repeat 0 (Z.to_nat (fst jv)) ++ [snd jv])) [] pairs))
  | _, _ => Bad BadDependence
  end.

Fixpoint read_dependences (width : Z) (ds : list written) (owns : list Z) : outcome (list dependence) :=
  match ds with
  | [] => Fine []
  | d :: ds' =>
      let* one := read_dependence width d owns in
      let* rest := read_dependences width ds' (firstn 1 (fst d) ++ owns) in
      Fine (one :: rest)
  end.

Definition check_definite (f : frame) (proof : definite_proof) (part : list (Z * Z)) (l : combination) : outcome (list dependence) :=
  let* deps := read_dependences (Z.of_nat (width f)) (dependences proof) [] in
  let* _ := each (fun ip => need (vanish deps (entries (snd (snd ip)))) (DependenceFails (fst ip))) (combine (map fst part) l) in
  let* _ := need (existsb (fun m => m) (kept (definite_rows l) deps)) AllZero in
  let* _ := need (is_definite_obstruction factor l deps) (NotDefinite (smallest part)) in
  Fine deps.

Definition check_definite_part (f : frame) (proof : definite_proof) (part : list (Z * Z)) (l : combination) : outcome unit :=
  let* _ := check_definite f proof part l in Fine tt.

Definition check_definite_claim (f : frame) (c : claim) (full : list Z) (proof : definite_proof) (separated : option (option (list Z)))
    (t : list (Z * row)) : outcome unit :=
  let* part := read_combination (fst (definite_of proof)) (snd (definite_of proof)) in
  let* _ := check_rows f c t in
  let* _ := match separated with Some _ => need (existsb (fun ir => is_strict full (snd ir)) t) AllOnPlane | None => Fine tt end in
  let* _ := check_named (map fst part) t in
  let* l := look_up (table t) part in
  let* _ := match separated with
            | Some (Some s) => need (are_places s (places (is_strict full) t)) OtherSeparated
            | _ => Fine tt
            end in
  let* deps := check_definite f proof part l in
  match c, separated with
  | DefiniteOverlapping _, _ => check_span [] (definite_rows l) deps t
  | _, Some (Some _) => check_span full (definite_rows l) deps t
  | _, _ => Fine tt
  end.

(** The same order as in Python: first what is malformed, then row by row, then the rest. *)
Definition check (f : frame) (c : claim) (t : list (Z * row)) : outcome unit :=
  let* _ := require ((0 <? one f) && forallb (fun ir => (length (entries (snd ir)) =? width f)%nat) t) Unsupported in
  match c with
  | Separable w b m =>
      let* _ := require ((length w =? columns f)%nat && (with_bias f || (b =? 0))) Unsupported in
      let* _ := require (match m with Some _ => (one f =? 1) && (spare f =? 0)%nat | None => true end) Unsupported in
      match m with
      | Some (MarginProof _ (Some (up, nearest))) =>
          let* part := read_combination (fst nearest) (snd nearest) in
          let* _ := check_rows f c t in
          let* _ := check_named (map fst part) t in
          let* l := look_up (table t) part in
          let* _ := need (all_positive (balanced (with_bias f) l)) OneClass in
          need (is_near (with_bias f) (columns f) l up) (NotNearest (smallest part))
      | _ => check_rows f c t
      end
  | Touching w b obstruction separated =>
      let* _ := require ((length w =? columns f)%nat && (with_bias f || (b =? 0))) Unsupported in
      let full := full_weights f w b in
      let* part := read_combination (fst obstruction) (snd obstruction) in
      match separated with
      | None =>
          let* _ := check_rows f c t in
          let* _ := need (existsb (fun ir => is_strict full (snd ir)) t) AllOnPlane in
          let* _ := check_named (map fst part) t in
          let* l := look_up (table t) part in
          check_cancels l part
      | Some (s, spread) =>
          let* other := read_combination (fst spread) (snd spread) in
          let* _ := check_rows f c t in
          let* _ := need (existsb (fun ir => is_strict full (snd ir)) t) AllOnPlane in
          let* _ := check_named (map fst part ++ map fst other) t in
          let* l := look_up (table t) part in
          let* k := look_up (table t) other in
          let* _ := check_cancels l part in
          let* _ := check_cancels k other in
          let* _ := need (are_places s (places (is_strict full) t)) OtherSeparated in
          let* deps := forms_of (rows_of k) in
          check_span full (rows_of k) deps t
      end
  | Overlapping obstruction spread =>
      let* part := read_combination (fst obstruction) (snd obstruction) in
      let* other := read_combination (fst spread) (snd spread) in
      let* _ := check_named (map fst part ++ map fst other) t in
      let* l := look_up (table t) part in
      let* k := look_up (table t) other in
      let* _ := check_cancels l part in
      let* _ := check_cancels k other in
      let* deps := forms_of (rows_of k) in
      check_span [] (rows_of k) deps t
  | NotSeparable obstruction =>
      let* part := read_combination (fst obstruction) (snd obstruction) in
      let* _ := check_named (map fst part) t in
      let* l := look_up (table t) part in
      check_cancels l part
  | DefiniteTouching w b definite separated =>
      let* _ := require ((length w =? columns f)%nat && (with_bias f || (b =? 0))) Unsupported in
      check_definite_claim f c (full_weights f w b) definite (Some separated) t
  | DefiniteOverlapping definite | DefiniteNotSeparable definite => check_definite_claim f c [] definite None t
  | FewestMistakes w b m =>
      let* _ := require ((length w =? columns f)%nat && (with_bias f || (b =? 0))) Unsupported in
      let full := full_weights f w b in
      let parts := obstructions m ++ map definite_of (definite_obstructions m) in
      let* _ := check_named (concat (copies m) ++ concat (map fst parts)) t in
      let wrong := places (fun r => negb (is_strict full r)) t in
      let each_costs := match costs m with Some c => c | None => map (fun _ => 1) t end in
      let is_unit := match costs m with Some _ => true | None => unit_is_1 m end in
      check_mistakes definite_proof definite_of (check_definite_part f) (map snd t) each_costs is_unit (mistaken_rows m) wrong (copies m)
        (obstructions m) (definite_obstructions m) (leaves m) (least m)
  end.

End Hints.

(** ** What the claims mean *)
Open Scope R_scope.

(** Some things, with numbers, have a side of every hyperplane: the points of a file, or, where scores of many classes are asked for,
    the points with another class each. *)
Section Meaning.
Context {A : Type}.
Variable side_of : A -> list R -> R -> R.
Variable hyperplane : list R -> R -> Prop.
Variable points : list (Z * A).

Definition strictly (w : list R) (b : R) : Prop := forall i p, In (i, p) points -> 0 < side_of p w b.
Definition weakly (w : list R) (b : R) : Prop := forall i p, In (i, p) points -> 0 <= side_of p w b.
Definition inseparable : Prop := forall w b, hyperplane w b -> ~ strictly w b.

(** The rows that w0 has strictly on their sides, by their numbers, and no weak separator has more. *)
Definition largest (w0 : list R) (b0 : R) (s : list Z) : Prop :=
  (forall i, In i s <-> exists p, In (i, p) points /\ 0 < side_of p w0 b0) /\
  forall w b, hyperplane w b -> weakly w b -> forall i p, In (i, p) points -> 0 < side_of p w b -> 0 < side_of p w0 b0.

Definition touches (w0 : list R) (b0 : R) : Prop :=
  weakly w0 b0 /\ (exists i p, In (i, p) points /\ 0 < side_of p w0 b0) /\ inseparable.

Definition overlaps : Prop :=
  inseparable /\ forall w b, hyperplane w b -> weakly w b -> forall i p, In (i, p) points -> side_of p w b = 0.

(** What the mistakes of a hyperplane cost: a point is a mistake unless it is strictly on its side. *)
Definition cost_of (each_costs : list Z) (w : list R) (b : R) : Z :=
  totalZ (map (fun pc => if Rlt_dec 0 (side_of (snd (fst pc)) w b) then 0%Z else snd pc) (combine points each_costs)).

Definition holds (c : claim) : Prop :=
  match c with
  | Separable w b m =>
      strictly (reals w) (IZR b) /\
      match m with
      | None => True
      | Some (MarginProof l h) =>
          (forall i p, In (i, p) points -> dyadic l * norm (reals w) <= side_of p (reals w) (IZR b)) /\
          match h with
          | None => True
          | Some (up, _) => forall w' b' m, hyperplane w' b' -> 0 < norm w' ->
              (forall i p, In (i, p) points -> m * norm w' <= side_of p w' b') -> m <= dyadic up
          end
      end
  | Touching w b _ s => touches (reals w) (IZR b) /\ match s with Some (s, _) => largest (reals w) (IZR b) s | None => True end
  | DefiniteTouching w b _ s => touches (reals w) (IZR b) /\ match s with Some s => largest (reals w) (IZR b) s | None => True end
  | Overlapping _ _ | DefiniteOverlapping _ => overlaps
  | NotSeparable _ | DefiniteNotSeparable _ => inseparable
  | FewestMistakes w b m =>
      (forall i, In i (mistaken_rows m) <-> exists p, In (i, p) points /\ ~ 0 < side_of p (reals w) (IZR b)) /\
      forall w' b', hyperplane w' b' ->
        (least m <= cost_of (match costs m with Some c => c | None => map (fun _ => 1%Z) points end) w' b')%Z
  end.
End Meaning.

(** Of a file with two classes. *)
Definition holds_of_points (f : frame) (points : list (Z * point)) (c : claim) : Prop :=
  holds (side (one f)) (is_hyperplane (with_bias f) (columns f)) points c.

Definition rows_for (f : frame) (points : list (Z * point)) : list (Z * row) :=
  map (fun ip => (fst ip, signed_row (with_bias f) (one f) (snd ip))) points.
