"""A few points of the plane as a small SVG picture, written by hand: no plotting library is loaded for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias, final

Point: TypeAlias = tuple[float, float]

WIDTH, HEIGHT, EDGE = 300, 180, 12
LONGEST = 18  # characters of a label
COLOURS = ("#3987e5", "#e0862c")  # of both classes, on light and on dark paper


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """Points of two classes, a line a·x + b·y + c = 0, and the rows of an obstruction with their common point."""

    classes: tuple[tuple[Point, ...], tuple[Point, ...]]
    labels: tuple[str, str]
    caption: str
    line: tuple[float, float, float] | None = None
    hulls: tuple[tuple[Point, ...], tuple[Point, ...]] = ((), ())
    common: Point | None = None

    def svg(self) -> str:
        """The picture; its title says what it shows."""
        shown = [point for points in (*self.classes, *self.hulls) for point in points]
        low = [min(point[k] for point in shown) for k in (0, 1)]
        span = [max(point[k] for point in shown) - low[k] or 1.0 for k in (0, 1)]

        def place(point: Point) -> Point:
            x, y = ((point[k] - low[k]) / span[k] if len({p[k] for p in shown}) > 1 else 0.5 for k in (0, 1))
            return EDGE + x * (WIDTH - 2 * EDGE), HEIGHT - EDGE - y * (HEIGHT - 2 * EDGE)

        drawn = [f"<title>{escape(self.caption)}</title>"]
        for points, hull, colour, mark in zip(self.classes, self.hulls, COLOURS, (_dot, _cross), strict=True):
            corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, _hull(hull)))
            drawn.append(f'<polygon points="{corners}" fill="{colour}" fill-opacity=".15" stroke="{colour}"/>')
            drawn += [mark(*place(point), colour, ".55") for point in points]
            drawn += [mark(*place(point), colour, "1") for point in hull]
        if self.line is not None and (ends := _ends(self.line, low, span)):
            (a, b), (c, d) = map(place, ends)
            drawn.append(f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" stroke="currentColor" stroke-width="1.5"/>')
        if self.common is not None:
            x, y = place(self.common)
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="currentColor"/>')
        for k, (label, colour, mark) in enumerate(zip(self.labels, COLOURS, (_dot, _cross), strict=True)):
            x = 6 + k * WIDTH / 2
            drawn.append(mark(x, HEIGHT + 10, colour, "1"))
            drawn.append(
                f'<text x="{x + 8:.0f}" y="{HEIGHT + 14}" fill="currentColor" font-size="11">{_short(label)}</text>'
            )
        drawn.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#8886"/>')
        box = f'viewBox="0 0 {WIDTH} {HEIGHT + 18}" width="{WIDTH}" height="{HEIGHT + 18}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {box}>{"".join(drawn)}</svg>'


def _short(label: str) -> str:
    return escape(label if len(label) <= LONGEST else f"{label[: LONGEST - 3]}...")


def _dot(x: float, y: float, colour: str, opacity: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" opacity="{opacity}"/>'


def _cross(x: float, y: float, colour: str, opacity: str) -> str:
    arms = f"M{x - 3.5:.1f} {y:.1f}h7M{x:.1f} {y - 3.5:.1f}v7"
    return f'<path d="{arms}" stroke="{colour}" stroke-width="2" opacity="{opacity}"/>'


def _ends(line: tuple[float, float, float], low: Sequence[float], span: Sequence[float]) -> list[Point]:
    """Where a line enters and leaves the box of the points; nothing if it misses it."""
    a, b, c = line
    sides = [(low[k] - 0.04 * span[k], low[k] + 1.04 * span[k]) for k in (0, 1)]
    meets = [(x, -(a * x + c) / b) for x in sides[0] if b] + [(-(b * y + c) / a, y) for y in sides[1] if a]
    inside = [p for p in meets if all(s <= v <= t for v, (s, t) in zip(p, sides, strict=True))]
    return [min(inside), max(inside)] if inside else []


def _hull(points: Sequence[Point]) -> list[Point]:
    """The corners of the smallest convex polygon around some points, in order (Andrew's monotone chain)."""

    def chain(ordered: Sequence[Point]) -> list[Point]:
        corners: list[Point] = []
        for x, y in ordered:
            while len(corners) > 1:
                (a, b), (c, d) = corners[-2:]
                if (c - a) * (y - b) > (d - b) * (x - a):
                    break
                corners.pop()
            corners.append((x, y))
        return corners[:-1]

    ordered = sorted(set(points))
    return chain(ordered) + chain(ordered[::-1]) if len(ordered) > 1 else ordered
