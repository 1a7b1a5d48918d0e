"""What floats cannot settle: linear programs, margins and cones in integers."""
