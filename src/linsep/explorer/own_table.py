"""The user's own rows, of any width: seen along two of their columns, or across the hyperplane that separates them.

The separation view has the signed distance to the hyperplane on one axis and the main direction of the rows within it
on the other. A separable set splits at 0; rows of an obstruction are on the wrong side.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import linsep
from linsep import on_files
from linsep.errors import ArgumentError
from linsep.explorer import engine, requests
from linsep.plots.view import widest_direction
from linsep.report import name_text
from linsep.tables import read_doubles, read_labels, require_one_index
from linsep.tables.row_ids import without_ids

Answer = dict[str, Any]
Floats = npt.NDArray[np.float64]

DRAWN = 1500  # rows of a larger table: a sample, and every row that the verdict names
VALUES_SHOWN = 60
SECONDS = 60.0
SECONDS_FOR_FEWEST = 2.0  # the search for the hyperplane with the fewest mistakes
LISTED, LISTED_COLUMNS = 40, 8  # rows and columns of the verdict's own table
FEWEST, PERCEPTRONS = "the best hyperplane that was found", "the Perceptron’s best hyperplane"
CORRECTED = 200  # rows that the run corrects and that a sample must not leave out


class Side(NamedTuple):
    """A hyperplane with |w| = 1, what it is, its margin (0 where it does not separate), and its mistakes in words."""

    w: Floats
    b: float
    what: str
    margin: float
    mistakes: str = ""


class OwnTable:
    """A user's rows and labels, and the questions a page may ask about them."""

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        columns: Any = None,
        title: str = "your rows",
        bias: bool = True,
        standardise: bool = False,
        ids: Any = None,
    ) -> None:
        require_one_index(X, y)
        X, self._ids = without_ids(X, ids, y)
        table = read_doubles(X)
        columns = columns or table.columns
        self.X = table.values if engine.is_sparse(table.values) else np.ascontiguousarray(table.values)
        self.y = read_labels(y, self.X.shape[0])
        self.title, self.bias = title, bias
        self.verdict = linsep.decide(self.X, self.y, bias=bias, time_limit=SECONDS)  # refuses what is not a table
        self.columns = [str(name) for name in (columns or [f"x{j + 1}" for j in range(self.X.shape[1])])]
        if standardise:
            self._standardise()
        self.labels = self.verdict.labels
        if set(self.labels) == {"+", "-"}:
            self.labels = ("-", "+")  # "+" comes before "-" in the order of characters
        self.signs = np.where(self.y == self.labels[1], 1, -1)
        self._record = lru_cache(8)(self._run)
        self._view = lru_cache(16)(self._seen)
        self.side = lru_cache(2)(self._named_side)

    def _standardise(self) -> None:
        """Show the rows centred and scaled, unless rounding would change the verdict."""
        self.X = on_files.scaled_rows(self.X, self.y, bias=self.bias)
        seen = linsep.decide(self.X, self.y, bias=self.bias, time_limit=SECONDS)
        if seen.kind != self.verdict.kind:
            told = f"The rows are {self.verdict.kind}, but {seen.kind} once their scaled columns are rounded"
            raise ArgumentError(told, fix="Look at them as they are.")
        self.title += " (centred and scaled)" if self.bias else " (scaled)"
        self.columns = [f"{name} ({'standardised' if self.bias else 'scaled'})" for name in self.columns]

    @property
    def is_flat(self) -> bool:
        """Whether the page can show the rows as points that can be moved."""
        n_rows, n_columns = self.X.shape
        flat = n_columns == 2 and n_rows <= requests.MOST_POINTS and not engine.is_sparse(self.X)
        return bool(flat and np.abs(self.X.astype(np.float64)).max() <= requests.LARGEST)

    def beginning(self) -> Answer:
        """What the page needs at the start. Names and labels are the user's, and plain text for the page."""
        labels = [str(label) for label in self.labels]
        preset = {
            "name": "own",
            "title": self.title,
            "about": "",
            "points": self.X.astype(np.float64).tolist(),
            "labels": self.signs.tolist(),
            "bias": self.bias,
            "names": {"columns": self.columns, "classes": labels},
        }
        return {
            "title": self.title,
            "columns": self.columns,
            "labels": labels,
            "rows": int(self.X.shape[0]),
            "bias": self.bias,
            "preset": preset if self.is_flat else None,
        }

    def prepare(self) -> None:
        """Compute the first answer in advance, which also compiles the loops."""
        if not self.is_flat:
            self._record(requests.RunRequest(bias=self.bias))

    def questions(self) -> dict[str, Any]:
        """What the page may ask: the run, a view, and the values of a row."""
        if self.is_flat:
            return {}
        return {
            "run": lambda body: self._record(requests.read_run(body)),
            "view": lambda body: self._view(requests.read_look(body, self.X.shape[1] - 1)),
            "row": lambda body: self._values(requests.read_whole(body, "row", self.X.shape[0] - 1)),
        }

    def _run(self, run: requests.RunRequest) -> Answer:
        answer = engine.record(self.X, self.signs, run, seconds=SECONDS)
        return answer | {"named": self._listed(answer)}

    def _listed(self, answer: Answer) -> Answer:
        """The first rows that the verdict rests on, with their values, and with their weights in an obstruction."""
        found = answer["obstruction"] or answer["widest"] or {"rows": []}
        rows = found["rows"][:LISTED]
        width = min(len(self.columns), LISTED_COLUMNS)
        return {
            "rows": rows,
            "ids": self._names(rows),
            "labels": [str(self.y[row]) for row in rows],
            "columns": self.columns[:width],
            "values": self._rows(rows)[:, :width].tolist(),
        }

    def _names(self, rows: list[int]) -> list[str] | None:
        """What the user calls these rows; None if they have no names."""
        return None if self._ids is None else list(map(name_text, self._ids.at(rows)))

    def _seen(self, look: requests.LookRequest) -> Answer:
        """The drawn rows along two columns (or across the hyperplane), and which of them the verdict names."""
        support, obstruction, corrected = self._named(look.run)
        drawn = self._drawn(support + obstruction + corrected)
        columns = look.columns
        side = self.side(look.run.bias) if look.update is None else self._reached(look.run, look.update)
        rows = self._rows(drawn)
        if columns is None:
            across, along = rows @ side.w + side.b, rows @ self._within(rows, side.w, look)
            axes = ["signed distance to the hyperplane", "main direction within it"]
        else:
            across, along = (np.asarray(rows[:, j], dtype=np.float64).ravel() for j in columns)
            axes = [self.columns[j] for j in columns]
        return {
            "columns": None if columns is None else list(columns),
            "axes": axes,
            "rows": drawn.tolist(),
            "signs": self.signs[drawn].tolist(),
            "x": across.tolist(),
            "y": along.tolist(),
            "support": support,
            "obstruction": obstruction,
            "side": {"what": side.what, "margin": side.margin, "mistakes": side.mistakes},
            "left_out": int(self.X.shape[0] - len(drawn)),
        }

    def _values(self, row: int) -> Answer:
        values = self._rows([row])[0].tolist()
        named = [[name, str(value)] for name, value in zip(self.columns, values, strict=True)]
        more = max(0, len(named) - VALUES_SHOWN)
        name = self._names([row])
        return {
            "row": row,
            "id": name and name[0],
            "label": str(self.y[row]),
            "values": named[:VALUES_SHOWN],
            "more": more,
        }

    def _reached(self, run: requests.RunRequest, update: int) -> Side:
        """The hyperplane of the run after this many updates."""
        if update == 0:
            return Side(np.zeros(self.X.shape[1]), 0.0, "no hyperplane yet: w = 0", 0.0)
        reached = linsep.perceptron(
            self.X, self.signs, order=run.order, bias=run.bias, random_state=run.seed, max_updates=update
        )
        what = f"the Perceptron’s hyperplane after update {reached.updates:,}"
        return Side(*engine.unit(reached.halfspace.w, reached.halfspace.b), what, 0.0)

    def _within(self, rows: Floats, w: Floats, look: requests.LookRequest) -> Floats:
        """The direction within the hyperplane along which the rows spread most, with the same sign at every update."""
        direction = widest_direction(rows, w)
        final = direction if look.update is None else widest_direction(rows, self.side(look.run.bias).w)
        if direction is None or final is None:
            return np.zeros_like(w)
        return -direction if float(direction @ final) < 0 else direction

    def _named_side(self, bias: bool) -> Side:
        """The hyperplane of the view: that with the largest margin, a weak separator, or the Perceptron's best."""
        record = self._record(requests.RunRequest(bias=bias))
        if record["widest"]:
            found = record["widest"]
            return Side(np.array(found["w"]), found["b"], "the hyperplane with the largest margin", found["margin"])
        if record["weak"]:
            found = record["weak"]
            return Side(np.array(found["w"]), found["b"], "a hyperplane with no row on its wrong side", 0.0)
        return self._fewest_side(bias)

    def _fewest_side(self, bias: bool) -> Side:
        """Of overlapping rows: the hyperplane with the fewest mistakes that a short search finds."""
        found = linsep.fewest_mistakes(self.X, self.signs, bias=bias, time_limit=SECONDS_FOR_FEWEST)
        model = linsep.PerceptronClassifier("best", bias=bias, max_passes=20, random_state=0).fit(self.X, self.signs)
        own = linsep.Halfspace(model.coef_[0], model.intercept_[0])
        wrong, own_wrong = len(found.mistaken_rows), own.mistakes(self.X, self.signs)
        if own_wrong < wrong or not found.halfspace.w.any():  # w = 0 calls every row the same, and has no side
            return Side(*engine.unit(own.w, own.b), PERCEPTRONS, 0.0, _in_words(own_wrong, found))
        return Side(*engine.unit(found.halfspace.w, found.halfspace.b), FEWEST, 0.0, _in_words(wrong, found))

    def _named(self, run: requests.RunRequest) -> tuple[list[int], list[int], list[int]]:
        """The rows on the edge of the widest band, those of the obstruction, and the first that the run corrects."""
        record = self._record(run)
        support = record["widest"]["rows"] if record["widest"] else []
        obstruction = record["obstruction"]["rows"] if record["obstruction"] else []
        corrected = list(dict.fromkeys(record["steps"]["row"]))
        return support[:DRAWN], obstruction[:DRAWN], corrected[:CORRECTED]

    def _drawn(self, named: list[int]) -> npt.NDArray[np.intp]:
        n_rows = self.X.shape[0]
        if n_rows <= DRAWN:
            return np.arange(n_rows)
        sample = np.random.default_rng(0).choice(n_rows, DRAWN, replace=False)
        return np.union1d(sample, np.array(named, dtype=np.intp)).astype(np.intp)

    def _rows(self, rows: Any) -> Floats:
        taken = self.X[np.asarray(rows)]
        dense = taken.toarray() if engine.is_sparse(taken) else taken
        return np.asarray(dense, dtype=np.float64)


def _in_words(wrong: int, found: linsep.FewestMistakes) -> str:
    said = f"It leaves {wrong:,} of {found.n_rows:,} rows on its wrong side or on it"
    least = math.ceil(found.lower)
    return (
        f"{said}; every hyperplane leaves at least {least:,} (proved)."
        if wrong > least
        else f"{said}, the fewest possible."
    )
