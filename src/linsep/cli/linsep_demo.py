"""`linsep demo`: the point of linsep in a minute. Everything that is printed has just been computed."""

import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

from rich.text import Text

import linsep
from linsep.cli import terminal
from linsep.cli.parameters import SEPARABLE, Debug, Seed, app
from linsep.report import STYLES, Sentence

ROWS, COLUMNS = 1_000_000, 10
WARM_ROWS = 120_000  # enough for every loop that a million rows run through
WIDTH = 80  # longer lines are hard to read
ACROSS, DOWN = 31, 11  # characters of a picture
BAR = 55
MARKS, MARK_STYLES = ("o", "x"), ("cyan", "yellow")

T = TypeVar("T")


@app.command(help_epilogue="Example: linsep demo")
def demo(*, seed: Seed = 0, debug: Debug = False) -> int:
    """The point of linsep in a minute: verdicts with their proofs, on four points and on a million rows."""
    _say("Can a straight line separate two classes? In many columns: can a hyperplane?", "bold")
    _say("linsep answers and proves the answer. Everything below is computed now.")
    _warm_up(seed)
    _decided("1. Four points of a lecture", *linsep.datasets.cornwell())
    _the_bound()
    _decided("3. XOR: opposite corners of a square are of one class", *linsep.datasets.xor())
    _a_million(seed)
    _a_file()
    _what_next()
    return SEPARABLE


def _warm_up(seed: int) -> None:
    """Load or compile every loop, so that the times below are those of the work."""
    X, y = linsep.datasets.planted(WARM_ROWS, COLUMNS, seed=seed)
    linsep.decide(X, y)
    linsep.decide(X, _flipped(y, WARM_ROWS // 2))


def _decided(title: str, X: Any, y: Any) -> None:
    """Points of the plane, and to the right of them what is proved."""
    _title(title)
    verdict = linsep.decide(X, y)
    _beside(_picture(verdict), f"{verdict.explain(X, y)}\n{_why(verdict)}".rstrip(), verdict)


def _the_bound() -> None:
    _title("2. The Perceptron on the same points, and Novikoff's bound on its updates")
    X, y = linsep.datasets.cornwell()
    run, theory = linsep.perceptron(X, y), linsep.novikoff(X, y)
    most = theory.bound[1]
    for name, value in (("updates", run.updates), ("bound", int(most))):
        _say(f"{name:<8} {'#' * max(1, round(BAR * value / most))} {value:,}", "green" if name == "updates" else "")
    _say(f"{run.report().title}. {theory.report().title}")


def _why(verdict: Any) -> str:
    """The obstruction as it looks in the picture, if it is two segments that cross."""
    if not isinstance(verdict, linsep.Touching | linsep.Overlapping):
        return ""
    found = verdict.obstruction
    known = list(zip(found.rows, found.classes or (), strict=True))
    pairs = [[str(row) for row, label in known if label == own] for own in verdict.labels]
    if [len(pair) for pair in pairs] != [2, 2]:
        return ""
    first, second = map(" and ".join, pairs)
    return f"Why: the segment between rows {first} crosses that between rows {second}, at the star."


def _a_million(seed: int) -> None:
    X, y = linsep.datasets.planted(ROWS, COLUMNS, seed=seed)
    row = ROWS // 2
    _title(f"4. {ROWS:,} rows of {COLUMNS} columns, {X.nbytes / 1e6:.0f} MB, labelled by a hidden hyperplane")
    _, reading = _timed(lambda: X.sum())
    found, deciding = _timed(lambda: linsep.decide(X, y))
    flipped, again = _timed(lambda: linsep.decide(X, _flipped(y, row)))
    _say(f"merely reading them (a sum)       {reading:.3f} s")
    for name, verdict, seconds in (
        ("deciding, and checking the proof ", found, deciding),
        ("the same with one label flipped  ", flipped, again),
    ):
        _say(f"{name} {seconds:.3f} s   {verdict.title}", _style(verdict))
    if isinstance(flipped, linsep.Touching | linsep.Overlapping):
        own = f"row {row:,}, whose label was flipped, is {'' if row in flipped.obstruction.rows else 'not '}among them"
        named = {part.name: part.text for part in flipped.report().parts if isinstance(part, Sentence)}
        _say(f"{named['obstruction'].removesuffix('.')}; {own}.")


def _a_file() -> None:
    import tempfile

    _title("5. A proof is a file; its checker shares no code with linsep")
    X, y = linsep.datasets.xor()
    moved = X.copy()
    moved[-1] += 1
    with tempfile.TemporaryDirectory(prefix="linsep-demo-") as name:
        folder = Path(name)
        _write(folder / "xor.csv", X, y)
        _write(folder / "moved.csv", moved, y)
        verdict = linsep.decide(linsep.open(folder / "xor.csv", label="y"))
        size = (folder / "proof.json").write_text(verdict.to_json(), encoding="utf-8")
        _say(f"The proof about XOR has {size:,} bytes. First its own rows, then one of them moved:")
        for data in ("xor.csv", "moved.csv"):
            _check("proof.json", data, folder)


def _check(proof: str, data: str, folder: Path) -> None:
    """Run the stand-alone checker, and show what it says."""
    import subprocess

    _say(f"$ python -m linsep.checker {proof} {data}", "bold")
    path = os.pathsep.join([str(Path(linsep.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command = [sys.executable, "-m", "linsep.checker", proof, data]
    environment = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    _say((ran.stdout + ran.stderr).strip(), "green" if ran.returncode == 0 else "magenta")


def _what_next() -> None:
    _title("What to type next")
    program, pip = shlex.join(terminal.program()), terminal.beside("pip")
    for command, what in (
        ("decide FILE.csv --label COLUMN --proof proof.json", "your own rows"),
        ("trace example:cornwell", "every update of the Perceptron"),
        ("explore", f"points to move, in the browser; first {pip} install '.[explore]'"),
    ):
        _say(f"{program} {command}", "bold")
        _say(f"    {what}")


def _picture(verdict: Any) -> Text:
    """Points of the plane in characters, with the line between them or the segments that rule one out."""
    import numpy as np

    seen = verdict.report().picture
    assert seen is not None
    points = np.array([*seen.classes[0], *seen.classes[1]])
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.15 * (high - low)
    xs = np.linspace(low[0] - pad[0], high[0] + pad[0], ACROSS)
    ys = np.linspace(high[1] + pad[1], low[1] - pad[1], DOWN)
    cells = np.full((DOWN, ACROSS), " ")

    def place(point: Any) -> tuple[int, int]:
        return int(np.abs(ys - point[1]).argmin()), int(np.abs(xs - point[0]).argmin())

    if seen.line is not None:
        a, b, c = seen.line
        side = a * xs + b * ys[:, None] + c > 0
        cells[:, 1:][side[:, 1:] != side[:, :-1]] = "."
        cells[1:][side[1:] != side[:-1]] = "."
    for pair in (np.array(hull) for hull in seen.hulls if len(hull) == 2):
        for t in np.linspace(0, 1, 2 * ACROSS):
            cells[place((1 - t) * pair[0] + t * pair[1])] = "."
    if seen.common is not None:
        cells[place(seen.common)] = "*"
    for mark, own in zip(MARKS, seen.classes, strict=True):
        for point in own:
            cells[place(point)] = mark
    drawn = Text("\n".join("".join(line).rstrip() for line in cells), no_wrap=True)
    for mark, style in zip(MARKS, MARK_STYLES, strict=True):
        drawn.highlight_words([mark], f"bold {style}")
    names = (f"{mark} {label}" for mark, label in zip(MARKS, seen.labels, strict=True))
    return drawn.append(f"\n{'   '.join(names)}", "dim")


def _beside(picture: Text, text: str, verdict: Any) -> None:
    """A picture, and to its right a text about it."""
    left = list(picture.split("\n"))
    right = _folded(text, _width() - ACROSS - 5)
    for k in range(max(len(left), len(right))):
        drawn = left[k] if k < len(left) else Text()
        said = right[k] if k < len(right) else ""
        gap = " " * (ACROSS + 3 - len(drawn)) if said else ""
        _print(Text.assemble(drawn, gap, (said, _style(verdict) if k == 0 else "")))


def _style(verdict: Any) -> str:
    return STYLES[verdict.report().tone]


def _title(text: str) -> None:
    _print(Text())
    _say(text, "bold")


def _say(text: str, style: str = "") -> None:
    for line in _folded(text, _width() - 2):
        _print(Text(line, style))


def _folded(text: str, width: int) -> list[str]:
    lines = terminal.printable(text).split("\n")
    return [part for line in lines for part in wrap(line, width, break_long_words=False, break_on_hyphens=False)]


def _print(line: Text) -> None:
    terminal.console(sys.stdout).print(Text(" ").append(line) if line else line)


def _width() -> int:
    return min(terminal.console(sys.stdout).width, WIDTH)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    found = work()
    return found, time.perf_counter() - started


def _flipped(y: Any, row: int) -> Any:
    labels = y.copy()
    labels[row] = -labels[row]
    return labels


def _write(path: Path, X: Any, y: Any) -> None:
    lines = (",".join(map(str, (*row, label))) for row, label in zip(X, y, strict=True))
    names = ",".join([f"x{j + 1}" for j in range(len(X[0]))])
    path.write_text(f"{names},y\n" + "\n".join(lines) + "\n", encoding="utf-8")
