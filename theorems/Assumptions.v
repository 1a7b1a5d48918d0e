(** What each main theorem rests on: the axioms of Coq's real numbers, and nothing else; [double] also on [classic],
    that every statement is true or false, with which Flocq is built. *)

From Linsep Require Import Separator Obstruction Spread PositiveDefinite Mistakes Margin Novikoff Homogeneous Doubles Soundness Classes.

Print Assumptions separator.
Print Assumptions scaled_columns_and_rows.
Print Assumptions no_strict_separator.
Print Assumptions equal_means.
Print Assumptions equal_means_obstruct.
Print Assumptions overlapping.
Print Assumptions maximal.
Print Assumptions full_rank_sound.
Print Assumptions positive_definite.
Print Assumptions definite.
Print Assumptions definite_spread.
Print Assumptions mistakes.
Print Assumptions some_case.
Print Assumptions far.
Print Assumptions near.
Print Assumptions novikoff.
Print Assumptions novikoff_with_margin.
Print Assumptions bits.
Print Assumptions scores_stay_small.
Print Assumptions one_to_two.
Print Assumptions two_to_one.
Print Assumptions same_run.
Print Assumptions double.
Print Assumptions check_sound.
Print Assumptions excess_is_score.
Print Assumptions excess_spared.
Print Assumptions joint_sound.
Print Assumptions classes_sound.
