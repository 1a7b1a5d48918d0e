"""The Perceptron in one sitting: the rule, the bound on its mistakes, and the proof that nothing separates XOR.

Plain Python, exact fractions, no library. Read it from top to bottom; `python lessons/etude.py` plays it.

    x, y        a row and its label, +1 or -1
    Z = y·(x,1) the row with a 1 for the bias, turned round if its label is -1
    W = (w, b)  the weights; a row is right if W·Z > 0, and 0 is a mistake
    R           the length of the longest Z
    gamma       the largest margin: the best unit vector u has u·Z >= gamma for every row
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Vector = tuple[Fraction, ...]

CORNWELL = ([(-1, 3), (-1, -1), (3, -1), (0, 1.5)], [-1, -1, 1, 1])
TAO = ([(1, 0), (0, -1), (0, 1), (-1, 0)], [1, -1, 1, -1])  # through the origin
WANG = ([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], [-1, 1, 1, -1, -1, 1])  # through the origin
XOR = ([(0, 0), (0, 1), (1, 0), (1, 1)], [-1, 1, 1, -1])


def signed(X: Sequence[Sequence[float]], y: Sequence[int], bias: bool = True) -> list[Vector]:
    """The rows as Z: separating X is finding W with W·Z > 0 for all of them.

    >>> [tuple(map(int, z)) for z in signed([(2, 3), (4, 5)], [1, -1])]
    [(2, 3, 1), (-4, -5, -1)]
    """
    return [tuple(sign * Fraction(value) for value in (*row, *([1] if bias else []))) for row, sign in zip(X, y)]


def dot(u: Vector, v: Vector) -> Fraction:
    """u·v."""
    return sum((a * b for a, b in zip(u, v)), Fraction(0))


# ---------------------------------------------------------------------------------------------------------------------
# The rule (Rosenblatt 1958)
# ---------------------------------------------------------------------------------------------------------------------


def perceptron(Z: list[Vector], most: int = 1000) -> Iterator[tuple[int, Vector]]:
    """Walk round the rows; at each mistake add the row to the weights. Yields (row, new weights) until all are right.

    >>> [(row, *map(float, W)) for row, W in perceptron(signed(*CORNWELL))][-1]
    (3, 4.0, -0.5, 1.0)
    """
    W: Vector = (Fraction(0),) * len(Z[0])
    right = row = made = 0
    while right < len(Z) and made < most:
        if dot(W, Z[row]) > 0:
            right += 1
        else:
            W = tuple(a + b for a, b in zip(W, Z[row]))
            right, made = 0, made + 1
            yield row, W
        row = (row + 1) % len(Z)


# ---------------------------------------------------------------------------------------------------------------------
# Why it stops, or why it cannot: the point of the hull of the Z that is nearest to 0
#
# Let p be that point, p = sum u_i·Z_i with weights u_i >= 0 that add up to 1. Either p = 0: then no W has W·Z_i > 0 for
# all i, since sum u_i·(W·Z_i) = W·p = 0, and the rows with u_i > 0 are the obstruction (Gordan 1873). Or p is not 0:
# then every Z_i lies beyond the plane through p, p·Z_i >= p·p, so p separates, and gamma = |p|: no unit vector u does
# better, because min u·Z_i <= u·p <= |p|.
# ---------------------------------------------------------------------------------------------------------------------


def nearest(Z: list[Vector]) -> tuple[Vector, dict[int, Fraction]]:
    """The point of the hull of the rows nearest to 0, and the rows it is a mixture of. Tries all small subsets.

    Rows that matter can be chosen independent (Carathéodory), so at most len(Z[0]) + 1 of them.

    >>> point, mixture = nearest(signed(*XOR))
    >>> any(point), {row: str(share) for row, share in mixture.items()}
    (False, {0: '1/4', 1: '1/4', 2: '1/4', 3: '1/4'})
    """
    for size in range(1, len(Z[0]) + 2):
        for rows in combinations(range(len(Z)), size):
            shares = flat_nearest([Z[i] for i in rows])
            if shares is None or min(shares) <= 0:
                continue
            point = tuple(sum(s * Z[i][j] for s, i in zip(shares, rows)) for j in range(len(Z[0])))
            if all(dot(point, z) >= dot(point, point) for z in Z):
                return point, dict(zip(rows, shares))
    raise AssertionError("a compact set has a point nearest to 0")


def flat_nearest(P: list[Vector]) -> list[Fraction] | None:
    """Shares, adding up to 1, of the point nearest to 0 in the flat through some points; None if they are not unique.

    At that point p the flat is at right angles to it: p·P_i is the same number m for all i. With G_ij = P_i·P_j that is
    G·s = m·1, sum s = 1: as many linear equations as unknowns s and m.
    """
    n = len(P)
    equations = [[*(dot(p, q) for q in P), Fraction(-1), Fraction(0)] for p in P]
    equations.append([*[Fraction(1)] * n, Fraction(0), Fraction(1)])
    solution = solve(equations)
    return None if solution is None else solution[:n]


def solve(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Gauss and Jordan's elimination: n equations, each n coefficients and the right side; None if singular."""
    n = len(rows)
    rows = [row[:] for row in rows]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k])]
    return [row[n] for row in rows]


# ---------------------------------------------------------------------------------------------------------------------
# The bound (Novikoff 1962)
#
# After k updates:  W·u >= k·gamma, since each adds u·Z >= gamma;  |W|² <= k·R², since each adds 2·W·Z + |Z|² <= R².
# So k·gamma <= W·u <= |W| <= sqrt(k)·R, and k <= (R/gamma)².
# ---------------------------------------------------------------------------------------------------------------------


def bound(Z: list[Vector]) -> Fraction | None:
    """(R/gamma)², exactly; None where nothing separates.

    >>> bound(signed(*CORNWELL)), bound(signed(*WANG, bias=False)), bound(signed(*XOR))
    (Fraction(55, 1), Fraction(5, 1), None)
    """
    point, _ = nearest(Z)
    return max(dot(z, z) for z in Z) / dot(point, point) if any(point) else None


def obstruction(Z: list[Vector]) -> dict[int, Fraction] | None:
    """Rows and shares whose mixture is 0: the proof that no hyperplane exists. None where one does."""
    point, mixture = nearest(Z)
    return None if any(point) else mixture


def play(name: str, data: tuple[list[tuple[float, ...]], list[int]], bias: bool) -> None:
    """One example from beginning to end."""
    Z = signed(*data, bias)
    most = bound(Z)
    print(f"\n{name}: {'at most ' + str(most) + ' updates' if most is not None else 'no hyperplane exists'}")
    for k, (row, W) in enumerate(perceptron(Z, 12), start=1):
        print(f"  update {k}: row {row} was a mistake, now W = ({', '.join(map(str, map(float, W)))})")
    if most is None:
        shares = ", ".join(f"{share} of row {row}" for row, share in (obstruction(Z) or {}).items())
        print(f"  because {shares} add up to 0, whatever W is their scores cancel, and one of them is not positive.")


if __name__ == "__main__":
    for title, example, has_bias in (
        ("Cornwell", CORNWELL, True), ("Tao", TAO, False), ("Wang", WANG, False), ("XOR", XOR, True)
    ):  # fmt: skip
        play(title, example, has_bias)
