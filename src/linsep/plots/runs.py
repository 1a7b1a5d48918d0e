"""A run of the Perceptron: its mistakes pass by pass, and the two curves of Novikoff's proof that end it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.learners.learner import Learner
from linsep.learners.perceptron import learner_on, perceptron_steps
from linsep.learners.vanishing import require_scores
from linsep.plots import style
from linsep.questions.margin import novikoff
from linsep.report import count
from linsep.sources.base import Floats, Ints, Source
from linsep.sources.inputs import as_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_PASSES, MAX_UPDATES = 1000, 100_000
DOTS = 40  # up to this many passes or updates, each gets a dot
NEAR = 0.7  # a run that comes this close to the wall leaves no room beyond its end
WIDE = 12  # a wall this many times farther than the run is shown on logarithmic axes


def mistakes(X: Any, y: Any = None, *, ax: "Axes | None" = None, label: str | None = None, **options: Any) -> "Axes":
    """Draw how many mistakes the Perceptron makes in each pass over the rows.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    ax : Axes or None
        Where to draw; a new figure by default. Several runs may be drawn on the same Axes.
    label : str or None
        What the run is called in the legend.
    **options
        Those of `perceptron`: order, bias, max_passes (1000 by default), max_updates, random_state.

    Returns
    -------
    Axes
        With the drawing.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> ax = linsep.plots.mistakes(*linsep.datasets.cornwell())
    >>> ax.lines[0].get_ydata().tolist()
    [3, 1, 2, 1, 2, 0]
    """
    source = as_source(X, y)
    require_scores(source)
    learner = learner_on(source, **{"max_passes": MAX_PASSES, **options})
    counts = mistakes_per_pass(learner)
    ax = style.canvas(ax, (6.0, 3.6))
    passes = np.arange(1, len(counts) + 1)
    ax.plot(passes, counts, lw=1.6, clip_on=False, label=label, **_dots(len(counts)), **_line_color(ax))
    end = ", then separated" if learner.converged else ": not separated yet, which proves nothing"
    if label:
        style.tidy(ax, "Mistakes in each pass", ax.lines)
    else:
        style.tidy(ax, count(learner.updates, "update") + end)
    most = max(float(np.max(line.get_ydata())) for line in ax.lines)
    ax.set(xlabel="pass", ylabel="mistakes", ylim=(0, 1.05 * most or 1))
    ax.locator_params(integer=True)
    return ax


def mistakes_per_pass(learner: Learner) -> Ints:
    """Do the whole run, and count the updates of each pass."""
    made = {0: 0}
    for _ in learner.walk():
        made[learner.passes] = learner.updates
    made[learner.passes] = learner.updates
    return np.diff(list(made.values()))


def bound(
    X: Any,
    y: Any = None,
    *,
    bias: bool = True,
    ax: "Axes | None" = None,
    max_updates: int = MAX_UPDATES,
    time_limit: float | None = None,
    **options: Any,
) -> "Axes":
    """Draw Novikoff's proof on these rows: a length that must grow, one that grows more slowly, and where they meet.

    W = (w, b) are the weights after k updates, u* is the unit vector with the largest margin gamma on the homogenised
    rows. Each update adds at least gamma to W·u* and at most R² to |W|². So W·u* stays above k·gamma, |W| below
    sqrt(k)·R, and no run goes beyond (R/gamma)² updates: the wall. Axes are logarithmic where the run ends far from the
    wall.

    Parameters
    ----------
    X, y, bias
        As `decide` takes them.
    ax : Axes or None
        Where to draw; a new figure by default.
    max_updates : int
        The most updates that the run may make.
    time_limit : float or None
        That of `novikoff`.
    **options
        Those of `perceptron`.

    Returns
    -------
    Axes
        With the drawing.

    Raises
    ------
    NotSeparableError
        There is no margin; its `verdict` says why.

    Examples
    --------
    >>> import linsep
    >>> ax = linsep.plots.bound(*linsep.datasets.cornwell())
    >>> ax.get_title(loc="left")
    '9 updates of at most 55'
    """
    race = Race.of(as_source(X, y), bias, max_updates, time_limit, options)
    ax = style.canvas(ax, (6.0, 4.2))
    _draw_curves(ax, race)
    _name_curves(ax, race)
    ax.annotate(
        r"$(R/\gamma)^2$" + f" = {_short(race.wall)} ",
        (race.wall, 0.03),
        xycoords=("data", "axes fraction"),
        ha="right",
        color=style.tint(style.ink(), ax, 0.6),
    )
    done = "" if race.separates else ", stopped"
    style.tidy(ax, f"{count(race.last, 'update')} of at most {np.floor(race.wall):,.0f}{done}")
    ax.set(xlabel="updates $k$", ylabel="length")
    return ax


def _draw_curves(ax: "Axes", race: "Race") -> None:
    """The run between its floor and its ceiling, and the wall where the two meet."""
    wall, last = race.wall, race.last
    updates = np.arange(1, last + 1)
    k = np.geomspace(1, wall * 1.6, 200) if race.is_wide else np.linspace(0, wall * 1.06, 400)
    ax.axvline(wall, color=style.ink(), lw=2.0, gid="wall")
    ax.plot(k, race.radius * np.sqrt(k), color=style.NEGATIVE, lw=1.0, ls=(0, (4, 2)), gid="ceiling")
    ax.plot(k, race.gamma * k, color=style.POSITIVE, lw=1.0, ls=(0, (4, 2)), gid="floor")
    ax.plot(updates, race.length, color=style.NEGATIVE, lw=2.0, **_dots(last), gid="length")
    ax.plot(updates, race.along, color=style.POSITIVE, lw=2.0, **_dots(last), gid="along")
    if race.is_wide:
        ax.set(xscale="log", yscale="log")
    else:
        ax.locator_params(axis="x", integer=True)  # updates are whole numbers
    ax.margins(x=0)


def _name_curves(ax: "Axes", race: "Race") -> None:
    """Write the name of each curve where it is away from the others."""
    wall, last, fills = race.wall, race.last, race.last > NEAR * race.wall
    at = float(np.sqrt(last * wall)) if race.is_wide else (last + wall) / 2
    if fills:
        at = 0.3 * wall
    _tell(ax, at, race.radius * np.sqrt(at), r"$\sqrt{k}\,R$ ", style.NEGATIVE, ha="right", va="bottom")
    _tell(ax, at, race.gamma * at, r" $k\,\gamma$", style.POSITIVE, va="top")
    length, along = "$|W|$", r"$W\cdot u^*$"
    if race.is_wide:  # the two curves are apart at their start, and the end of the lower one is near the floor
        _tell(ax, last, race.length[-1], length, style.NEGATIVE, xytext=(6, 0))
        _tell(ax, 1, race.along[0], along, style.POSITIVE, xytext=(8, -14))
    elif fills:
        is_at_wall = NEAR * wall < 1  # one update, and the only point of the run is where all meet
        side = {"ha": "right" if is_at_wall else "left"}
        above, below = ((-12, 6), (-6, -40)) if is_at_wall else ((12, -6), (10, -16))
        _tell(ax, 1, race.length[0], length, style.NEGATIVE, xytext=above, **side)
        _tell(ax, 1, race.along[0], along, style.POSITIVE, xytext=below, **side)
    else:
        _tell(ax, last, race.length[-1], length, style.NEGATIVE, xytext=(-5, 9))
        _tell(ax, last, race.along[-1], along, style.POSITIVE, xytext=(12, -20))


@dataclass(frozen=True, slots=True)
class Race:
    """W·u* and |W| after each update, and whether the last weights separate.

    `gamma` is the certified margin of u*, `radius` the length of the longest homogenised row, and `wall` is
    (R/gamma)², which no run exceeds.
    """

    along: Floats
    length: Floats
    separates: bool
    gamma: float
    radius: float
    wall: float

    @classmethod
    def of(
        cls, source: Source, bias: bool, max_updates: int, time_limit: float | None, options: dict[str, Any]
    ) -> "Race":
        """Run the Perceptron and keep the two numbers that the proof follows."""
        theory = novikoff(source, bias=bias, time_limit=time_limit)
        best, seen = theory.halfspace, []
        for step in perceptron_steps(source, bias=bias, max_updates=max_updates, **options):
            seen.append((float(step.w @ best.w + step.b * best.b), float(np.hypot(np.linalg.norm(step.w), step.b))))
        separates = not source.scan(step.w, step.b).mistakes
        along, length = np.array(seen).T
        return cls(along, length, separates, theory.gamma[0], theory.radius[1], theory.bound[1])

    @property
    def last(self) -> int:
        """How many updates were made."""
        return len(self.along)

    @property
    def is_wide(self) -> bool:
        """Whether the run ends so far from the wall that only logarithmic axes show both."""
        return self.wall > WIDE * self.last


def _dots(count: int) -> dict[str, Any]:
    return {"marker": "o", "markersize": 4} if count <= DOTS else {}


def _line_color(ax: "Axes") -> dict[str, Any]:
    """The first curve is blue, the second orange; more take the rcParams' colours."""
    first = (style.NEGATIVE, style.POSITIVE)
    return {"color": first[len(ax.lines)]} if len(ax.lines) < len(first) else {}


def _tell(ax: "Axes", x: float, y: float, text: str, color: Any, **place: Any) -> None:
    ax.annotate(
        text, (x, y), color=color, annotation_clip=False, **{"xytext": (0, 0), "textcoords": "offset points", **place}
    )


def _short(value: float) -> str:
    """A bound on a number of updates, rounded to a tenth if it is not whole."""
    return f"{value:,.1f}".removesuffix(".0")
