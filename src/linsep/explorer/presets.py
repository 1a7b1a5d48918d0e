"""The sets that the page offers: the lectures' examples, and sets that show what makes a run long or endless."""

from typing import Any

import numpy as np

from linsep import datasets

GRID = 32  # coordinates are multiples of 1/32, so that exact weights are short fractions


def presets() -> list[dict[str, Any]]:
    """Each set with its name, a line about it, its points, and whether it is used with bias."""
    sets = [
        ("cornwell", "Cornwell’s four points", "Nine updates to 4·x₁ − ½·x₂ + 1.", datasets.cornwell()),
        ("tao", "Tao’s circle", "Through the origin: two updates.", datasets.tao()),
        ("wang", "Wang’s six points", "Through the origin: three updates, at rows 0, 2 and 4.", datasets.wang()),
        ("xor", "XOR", "No line separates opposite corners. Four rows prove it.", datasets.xor()),
        ("touching", "Touching", "A − row lies between two + rows: a line can only touch.", _touching()),
        ("narrow", "A narrow margin", "The thinner the band, the farther the wall: a run can be longer.", _narrow()),
        ("moons", "Two moons", "Each class curls around the other.", _moons()),
    ]
    return [
        {
            "name": name,
            "title": title,
            "about": about,
            "points": np.asarray(X).tolist(),
            "labels": np.asarray(y).tolist(),
            "bias": name not in ("tao", "wang"),
        }
        for name, title, about, (X, y) in sets
    ]


def _touching() -> tuple[Any, Any]:
    """Two triangles whose tips meet: a corner of one lies on an edge of the other."""
    X = [[-2, 1], [-2, -1], [-3, 0], [0, 1], [0, -1], [0, 0], [2, 1], [2, -1]]
    return X, [-1, -1, -1, 1, 1, -1, 1, 1]


def _narrow() -> tuple[Any, Any]:
    """Two rows of points along a slanted line, a thin band apart."""
    places = 0.75 * np.arange(-3, 4)
    upper = np.column_stack([places, places / 2 + 1 / 16])
    lower = np.column_stack([places + 0.375, (places + 0.375) / 2 - 1 / 16])
    return np.vstack([upper, lower]), np.repeat([1, -1], len(places))


def _moons() -> tuple[Any, Any]:
    """Two interleaved half circles with a little noise."""
    rng = np.random.default_rng(4)
    angle = np.linspace(0, np.pi, 20)
    outer = np.column_stack([np.cos(angle), np.sin(angle)])
    inner = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    X = np.stack([outer, inner], axis=1).reshape(40, 2) + rng.normal(0, 0.06, (40, 2))  # one of each in turn
    return np.round(X * GRID) / GRID, np.tile([-1, 1], 20)
