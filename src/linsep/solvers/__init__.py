"""How answers are found: one idea per module."""
