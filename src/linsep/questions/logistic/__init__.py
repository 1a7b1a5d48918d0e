"""Does the estimate of a regression exist? Which coefficients diverge, why, and what to report instead."""
