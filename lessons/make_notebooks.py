"""The three notebooks of the lessons, written from here: `python lessons/make_notebooks.py`. The tests run them."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NOTEBOOKS: dict[str, list[str]] = {
    "1-the-rule": [
        "# 1. The rule\n\nFour points, a line, and a rule that moves the line at each mistake.",
        "import linsep\n\nX, y = linsep.datasets.cornwell()\nprint(X, y)",
        "Start with w = 0, b = 0. A row is a **mistake** if y·(w·x + b) <= 0. At a mistake add y·x to w and y to b.\n\n"
        "Before you run the next cell: which row is the first mistake, and what are w and b then?",
        "for step in linsep.perceptron_steps(X, y):\n    print(step.update, 'row', step.row, 'score', step.score,"
        " '->', step.w, step.b)",
        "Nine updates. The weights are sums of rows: how often was each one added?",
        "run = linsep.perceptron(X, y)\nprint(run.mistakes_per_row)\nprint((run.mistakes_per_row * y) @ X)",
        "**Yours:** move the fourth point to (0, 2.5). Is there still a line? How many updates now?",
        "moved = X.copy()\nmoved[3] = (0, 2.5)\n"
        "print(linsep.decide(moved, y).kind, linsep.perceptron(moved, y).updates)",
    ],
    "2-the-bound": [
        "# 2. The bound\n\nWhy does it stop? Two quantities, and a wall.",
        "import numpy as np\n\nimport linsep\n\nX, y = linsep.datasets.cornwell()\ntheory = linsep.novikoff(X, y)\n"
        "print(theory.explain())",
        "**Floor.** Each update adds u\\*·Z >= gamma to W·u\\*. So after k updates W·u\\* >= k·gamma.\n\n"
        "**Ceiling.** |W + Z|² = |W|² + 2·W·Z + |Z|², and at a mistake W·Z <= 0. So |W|² <= k·R².\n\n"
        "A straight line against a root: which wins?",
        "best = np.append(theory.halfspace.w, theory.halfspace.b)\nfor step in linsep.perceptron_steps(X, y):\n"
        "    W, k = np.append(step.w, step.b), step.update\n"
        "    print(k, *np.round([k * theory.gamma[0], W @ best, np.linalg.norm(W), k**0.5 * theory.radius[1]], 2))\n"
        "    assert k * theory.gamma[0] <= W @ best * (1 + 1e-12) and np.linalg.norm(W) <= k**0.5 * theory.radius[1]",
        "They meet at k = (R/gamma)²: no run gets past it.",
        "ax = linsep.plots.bound(X, y)",
        "**Yours:** make the wall farther away: bring the classes closer together, or spread the points.",
        "for gap in (1, 0.5, 0.25):\n    rows = [[-gap, 3], [-gap, -3], [gap, 3], [gap, -3]]\n"
        "    print(gap, linsep.novikoff(rows, [0, 0, 1, 1]).most_updates)",
    ],
    "3-the-impossible": [
        "# 3. The impossible, and what comes after\n\nFour corners of a square, opposite ones alike.",
        "import linsep\n\nX, y = linsep.datasets.xor()\nprint(linsep.decide(X, y).explain(X, y))",
        "The point (1/2, 1/2) is the middle of both diagonals. A line would need it on both sides.\n\n"
        "What does the Perceptron do?",
        "print([step.row for step in linsep.perceptron_steps(X, y, max_updates=12)])",
        "It goes round and round. What now? A third column, the product of the two:",
        "lifted = [[a, b, a * b] for a, b in X.tolist()]\nverdict = linsep.decide(lifted, y)\nprint(verdict.explain())",
        "The same without naming the column: a kernel.",
        "model = linsep.KernelPerceptronClassifier(kernel='poly', degree=2).fit(X, y)\nprint(model.predict(X), y)",
        "Or live with it: the line with the fewest mistakes, and several lines.",
        "print(linsep.fewest_mistakes(X, y).explain())\nprint(linsep.separate_regions(X, y).explain())",
    ],
}


def cell(k: int, text: str) -> dict[str, Any]:
    """Words, or code where it begins with none of a heading or a sentence."""
    is_code = text.startswith(("import", "for ", "run ", "moved", "best", "ax ", "print", "lifted", "model"))
    lines = text.splitlines(keepends=True)
    made: dict[str, Any] = {
        "cell_type": "code" if is_code else "markdown",
        "id": f"c{k}",
        "metadata": {},
        "source": lines,
    }
    return made | ({"execution_count": None, "outputs": []} if is_code else {})


def notebook(texts: list[str]) -> str:
    """A notebook as its file holds it."""
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    content = {
        "cells": [cell(k, text) for k, text in enumerate(texts)],
        "metadata": about,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, texts in NOTEBOOKS.items():
        (HERE / f"{name}.ipynb").write_text(notebook(texts), "utf-8")
