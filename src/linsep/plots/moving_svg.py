"""A film as one animated SVG: no script, no library, a few kilobytes.

Everything that changes is one element with a list of values, one for each frame, through which the browser steps.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from linsep.plots.film import Film
from linsep.plots.style import NEGATIVE, POSITIVE
from linsep.sources.base import Floats

SIDE, EDGE, HEAD, CHART = 320.0, 14.0, 34.0, 340.0
LAST = 4  # the last frame is shown this many times as long
CURVE = 60  # points of the ceiling
STYLE = (
    "svg{color-scheme:light dark;color:#222;background:#fff}"
    "@media(prefers-color-scheme:dark){svg{color:#ddd;background:#17191c}}text{font:12px system-ui,sans-serif}"
)


def moving_svg(film: Film, seconds: float) -> bytes:
    """The points, the line and its sides, and beside them the curves of the proof up to the current update."""
    clock = _Clock(len(film.frames), seconds)
    wide = 2 * EDGE + SIDE + (0 if film.theory is None else CHART)
    parts = [*_plane(film, clock), *_captions(film, clock), *_legend(film)]
    if film.theory is not None:
        parts += _proof(film, clock)
    size = f'viewBox="0 0 {wide:g} {SIDE + HEAD + 2 * EDGE + 14:g}"'
    title = f"<title>{escape(film.title)}</title><style>{STYLE}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{title}{"".join(parts)}</svg>\n'.encode()


class _Clock:
    """When each frame begins, as a fraction of the film, and the elements that change a value then."""

    def __init__(self, frames: int, seconds: float) -> None:
        self.seconds = seconds * (frames - 1 + LAST)
        self.times = [f"{k / (frames - 1 + LAST):.5f}" for k in range(frames)]

    def change(self, attribute: str, values: Iterable[str], times: Iterable[str] | None = None) -> str:
        """An element that gives its parent these values, frame by frame, in a loop."""
        return (
            f'<animate attributeName="{attribute}" values="{";".join(values)}" '
            f'keyTimes="{";".join(self.times if times is None else times)}" '
            f'calcMode="discrete" dur="{self.seconds:g}s" repeatCount="indefinite"/>'
        )

    def during(self, k: int) -> str:
        """An element that shows its parent only during frame k."""
        spans = [("hidden", "0")] * (k > 0) + [("visible", self.times[k] if k else "0")]
        spans += [("hidden", time) for time in self.times[k + 1 : k + 2]]
        return self.change("visibility", (value for value, _ in spans), (time for _, time in spans))


def _plane(film: Film, clock: _Clock) -> list[str]:
    low, span = film.box()[0], float(np.ptp(film.box()[:, 0]))

    def places(corners: Floats) -> Floats:
        unit = (corners - low) / span
        return np.column_stack([EDGE + SIDE * unit[:, 0], HEAD + SIDE * (1 - unit[:, 1])])

    parts = []
    for sign, colour in ((-1, NEGATIVE), (1, POSITIVE)):
        corners = [_listed(places(film.side(frame, sign))) or "0,0" for frame in film.frames]
        parts.append(f'<polygon fill="{colour}" fill-opacity=".14">{clock.change("points", corners)}</polygon>')
    ends = [_listed(places(film.border(frame))) or "0,0" for frame in film.frames]
    line = 'stroke="currentColor" stroke-width="2" fill="none"'
    parts.append(f"<polyline {line}>{clock.change('points', ends)}</polyline>")
    dots = places(film.points)
    parts += [_mark(x, y, sign) for (x, y), sign in zip(dots.tolist(), film.signs.tolist(), strict=True)]
    rings = [dots[frame.row].tolist() if frame.row >= 0 else [-99, -99] for frame in film.frames]
    moves = "".join(clock.change(f"c{axis}", (f"{ring[j]:.1f}" for ring in rings)) for j, axis in enumerate("xy"))
    parts.append(f'<circle r="9" fill="none" stroke="currentColor" stroke-width="1.5">{moves}</circle>')
    parts.append(f'<rect x="{EDGE}" y="{HEAD}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#8888"/>')
    return parts


def _captions(film: Film, clock: _Clock) -> list[str]:
    """The sentence of each frame, shown only during that frame."""
    place = f'x="{EDGE}" y="20" fill="currentColor" visibility="hidden"'
    return [f"<text {place}>{escape(frame.text)}{clock.during(k)}</text>" for k, frame in enumerate(film.frames)]


def _legend(film: Film) -> list[str]:
    y, parts = HEAD + SIDE + 16, []
    for k, (sign, label) in enumerate(zip((-1, 1), film.labels, strict=True)):
        x = EDGE + 8 + k * SIDE / 2
        name = escape(str(label)[:24])
        parts += [_mark(x, y, sign), f'<text x="{x + 10:g}" y="{y + 4:g}" fill="currentColor">{name}</text>']
    return parts


def _proof(film: Film, clock: _Clock) -> list[str]:
    """Floor, ceiling and wall, and the curves of the run, revealed from the left."""
    theory: Any = film.theory
    left, width = 3 * EDGE + SIDE, CHART - 3 * EDGE
    most = film.reach()
    top = theory.radius[1] * most**0.5

    def place(k: float, value: float) -> str:
        return f"{left + width * k / most:.1f},{HEAD + SIDE * (1 - value / top):.1f}"

    ceiling = [place(most * (j / CURVE) ** 2, theory.radius[1] * (most**0.5) * j / CURVE) for j in range(CURVE + 1)]
    dashed = 'fill="none" stroke-dasharray="5 3"'
    parts = [
        f'<polyline points="{" ".join(ceiling)}" stroke="{NEGATIVE}" {dashed}/>',
        f'<polyline points="{place(0, 0)} {place(most, theory.gamma[0] * most)}" stroke="{POSITIVE}" {dashed}/>',
        f'<path d="M{left} {HEAD}V{HEAD + SIDE}H{left + width}" fill="none" stroke="#8888"/>',
        f'<text x="{left + 6}" y="{HEAD + 12}" fill="{NEGATIVE}">|W| below √k·R</text>',
        f'<text x="{left + 6}" y="{HEAD + 28}" fill="{POSITIVE}">W·u* above k·γ</text>',
    ]
    if theory.bound[1] <= most:
        x = left + width * theory.bound[1] / most
        parts.append(f'<path d="M{x:.1f} {HEAD}V{HEAD + SIDE}" stroke="currentColor" stroke-width="2"/>')
        told = f"(R/γ)² = {theory.bound[1]:,.0f}"
        parts.append(f'<text x="{x - 6:.1f}" y="{HEAD + SIDE - 6}" text-anchor="end" fill="currentColor">{told}</text>')
    widths = clock.change("width", (f"{5 + width * frame.update / most:.1f}" for frame in film.frames))
    parts.append(f'<clipPath id="seen"><rect x="{left}" y="0" width="0" height="999">{widths}</rect></clipPath>')
    for colour, lengths in ((NEGATIVE, [f.length for f in film.frames]), (POSITIVE, [f.along for f in film.frames])):
        dots = " ".join(place(k, value) for k, value in enumerate(lengths))
        line = f'stroke="{colour}" stroke-width="2.5" fill="none"'
        parts.append(f'<polyline clip-path="url(#seen)" points="{dots}" {line}/>')
    return parts


def _listed(corners: Floats) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners.tolist())


def _mark(x: float, y: float, sign: int) -> str:
    if sign < 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{NEGATIVE}"/>'
    return f'<rect x="{x - 4.2:.1f}" y="{y - 4.2:.1f}" width="8.4" height="8.4" fill="{POSITIVE}"/>'
