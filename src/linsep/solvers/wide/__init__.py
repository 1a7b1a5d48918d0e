"""Hundreds of columns and more: relaxation, Newton's method, round bases, margins in the space of the rows."""
