"""The mathematics of the stand-alone checker, function by function, where a small change would go unnoticed in a proof.

The mutants of the checker (`campaigns/mutants.py`) are put before these too: each takes the module as its argument.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace

import pytest

from linsep import checker

FINE = 2**56
LEG = 6 * 2**54 // 10
OTHER_LEG = math.isqrt(4**54 - LEG * LEG) + 1
TABLES = [
    [[3, 1, 1], [-1, 2, 1], [-2, -3, -1], [0, 1, -1]],
    [[7, 2], [-7, 1], [1, -3]],
    [[2**70, 5, 1], [-(2**70) + 1, -3, 1], [9, -2, -2]],
    [[1, 0], [-1, 0], [0, 1], [0, -1]],
    [[5], [-4]],
    [[2**300, 3], [-(2**300), 1], [3, -4]],
    [[(7 * i * j + i + 3 * j) % 11 - 5 for j in range(1, 7)] for i in range(1, 41)],  # many entries, much rounding
    [[2**58 + 1] * 16, [-(2**59)] * 16],  # a row just longer than 1, each entry of which is rounded to less
    [[0, 1], [3, 0], [0, -1], [-3, 0]],  # small numbers beside zeros
    [[(LEG << 64) - 1, (OTHER_LEG << 64) - 1], [-(2**119), 2**119]],  # rounded up, a row longer than 2^-2 by a hair
]


def named(table):
    """Rows as the checker has them, and weights."""
    return {i: (row, 0) for i, row in enumerate(table)}, dict.fromkeys(range(len(table)), 1)


def asked(module, table, weights=None, fields=None):
    """What `check_definite` hands to `exceeds`, which is made to agree: the levelled rows, and the number to exceed."""
    rows, ones = named(table)
    said = []
    original = module.exceeds
    module.exceeds = lambda *given: said.append(given) or True
    try:
        module.check_definite(fields or {"dependences": []}, weights or ones, rows)
    finally:
        module.exceeds = original
    return said[0]


def exact_root(value):
    return Decimal(value.numerator).sqrt() / Decimal(value.denominator).sqrt()


def scaled(table):
    """The rows in Fractions, each column divided by the power of two above its largest entry."""
    bits = [max(abs(v) for v in column).bit_length() for column in zip(*table, strict=True)]
    return [[Fraction(v, 2**b) for v, b in zip(row, bits, strict=True)] for row in table]


def unit_allowance(module):
    """What is to be exceeded is |r| and all that rounding may have done, and little more."""
    for table in TABLES:
        _, least = asked(module, table)
        with localcontext() as context:
            context.prec = 120
            r = [sum(column) for column in zip(*scaled(table), strict=True)]
            length = exact_root(sum((v * v for v in r), Fraction(0)))
            entries = Decimal(len(table) * len(table[0])).sqrt()
            assert (length * FINE * FINE).sqrt() + entries < Decimal(least).sqrt()
            assert Decimal(least).sqrt() <= (length * FINE * FINE + 1).sqrt() + entries + 2


def unit_level(module):
    """A levelled row is √c·p·2^FINE, rounded down, with the largest power of four c <= 1/|p|, or a quarter of it."""
    for table in TABLES:
        levelled, _ = asked(module, table)
        for p, row in zip(scaled(table), levelled, strict=True):
            square = sum(v * v for v in p)
            halves = [
                h
                for h in range(-40, 60)
                if all(math.floor(v * FINE / Fraction(2) ** h) == a for v, a in zip(p, row, strict=True))
            ]
            assert any(square <= Fraction(16) ** h for h in halves)  # |p| <= 4^half
            assert any(Fraction(16) ** (h - 2) <= square for h in halves) or not square


def unit_common_factor(module):
    """Weights are divided by their common factor, and multiplied into the rows."""
    table = TABLES[0]
    assert asked(module, table, dict.fromkeys(range(4), 6)) == asked(module, table)
    double = [[2 * v for v in row] if i == 1 else row for i, row in enumerate(table)]
    assert asked(module, table, {0: 3, 1: 6, 2: 3, 3: 3}) == asked(module, double)


def unit_exceeds(module):
    """Diagonal tables: the least eigenvalue is known."""
    unit = 2**60
    for count, part, proved in ((1, 0.98, True), (1, 1.0, False), (3, 0.98, True), (3, 0.995, False), (2, 1.01, False)):
        table = [[unit if j == k else 0 for k in range(count)] for j in range(count)]
        assert module.exceeds(table, int(part * unit) * unit) is proved, (count, part)
    assert module.exceeds([[unit, 0], [0, unit // 8]], unit * unit // 80) is True
    assert module.exceeds([[unit, 0], [0, unit // 8]], unit * unit // 64) is False
    assert module.exceeds([[unit, unit], [unit, unit]], 1) is False  # singular
    assert module.exceeds([[5]], 0) is False  # no more than just: error and shift are 0, and 0 > 0 is not true


def unit_wrong_factor(module):
    """Floats that go wrong do not matter: the error is computed exactly, over whole rows, and in its size."""
    unit, square = 2**60, 2**120
    table = [[unit, 0], [0, unit]]
    original = module.math
    for factor, proved in ((1.0, True), (0.9, False), (1.1, False)):
        module.math = SimpleNamespace(ldexp=math.ldexp, sqrt=lambda x, f=factor: math.sqrt(x) * f)
        try:
            assert module.exceeds(table, int(0.9 * unit) * unit) is proved
        finally:
            module.math = original
    assert square == unit * unit


def unit_factor(module):
    """The factor is multiplied by its own transpose, and by nothing else."""
    said = []
    original = module.products
    module.products = lambda *given: said.append(given) or original(*given)
    try:
        assert module.exceeds([[2**60, 2**50, 0], [0, 2**60, 2**50], [2**50, 0, 2**60]], 2**110)
    finally:
        module.products = original
    lower, upper = said[1]
    size = range(3)
    assert upper == [[lower[j][k] if k <= j else 0 for j in size] for k in size]


def unit_products(module):
    """Sums of products, of numbers of all sizes and signs."""
    for left, right in (
        ([[1, 2], [-3, 4]], [[5, -6, 7], [-8, 9, 10]]),
        ([[127, -128]], [[127, -127], [-128, 128]]),
        ([[255] * 9, [-255] * 9], [[255]] * 9),
        ([[2**200, -1]], [[2**199, 1], [-(2**199), 3]]),
        ([[63] * 7, [-63] * 7], [[63, -63]] * 7),  # no bit to spare
        ([[0]], [[0]]),
        ([[-1]], [[1]]),
    ):
        plain = [
            [sum(a * row[k] for a, row in zip(each, right, strict=True)) for k in range(len(right[0]))] for each in left
        ]
        assert module.products(left, right) == plain


def unit_null_vectors(module):
    """A basis of what the rows vanish on: of the right number, independent, and in the null space."""
    for rows, count in (
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1),
        ([[0, 0, 1], [0, 0, 2]], 2),
        ([[0, 2, 1], [3, 0, 1], [3, 2, 2]], 1),
        ([[2, 0], [0, 3]], 0),
        ([[2**61 - 1, 0], [0, 1]], 0),  # singular modulo the prime, and not singular
        ([[0, 0]], 2),
        ([[0]], 1),
        ([[0, 0], [0, 0]], 2),
        ([[0, 1, 1, 5], [2, 0, 1, 7], [4, 3, 5, 29]], 2),
    ):
        found = module.null_vectors([list(row) for row in rows])
        assert len(found) == count
        assert not any(sum(a * b for a, b in zip(row, v, strict=True)) for row in rows for v in found)
        free = [max(j for j, x in enumerate(v) if x) for v in found]
        assert len(set(free)) == count  # each has a column of its own


def unit_dependences(module):
    """Columns with weights; the first is the own one, and no later dependence has it."""
    width = 3
    found, own = module.read_dependences(
        [{"columns": ["2", "0"], "weights": ["1", "-2"]}, {"columns": ["1"], "weights": ["4"]}], width
    )
    assert found == [{2: 1, 0: -2}, {1: 4}] and own == {2, 1}
    for bad in (
        [{"columns": ["3"], "weights": ["1"]}],
        [{"columns": ["0"], "weights": ["0"]}],
        [{"columns": ["0", "1"], "weights": ["0", "1"]}],  # left out without depending on any other
        [{"columns": ["0", "1"], "weights": ["1", "0"]}],
        [{"columns": [], "weights": []}],
        [{"columns": ["0", "0"], "weights": ["1", "1"]}],
        [{"columns": ["0", "1"], "weights": ["1"]}],
        [{"columns": ["0"], "weights": ["1"]}, {"columns": ["1", "0"], "weights": ["1", "1"]}],
    ):
        with pytest.raises(Exception) as error:
            module.read_dependences(bad, width)
        assert error.value.args[1] == 2


def unit_forms(module):
    """What the rows of an obstruction vanish on: columns that are 0, and the dependences; 0 everywhere is refused."""
    rows, weights = named([[1, 0, 2], [-1, 0, -2], [2, 0, 4], [-2, 0, -4]])
    named_columns = {"dependences": [{"columns": ["2", "0"], "weights": ["1", "-2"]}]}
    original, module.exceeds = module.exceeds, lambda *_: True
    try:
        assert module.check_definite(named_columns, weights, rows) == [{1: 1}, {2: 1, 0: -2}]
        with pytest.raises(Exception, match="0 in every column"):
            module.check_definite({"dependences": []}, {0: 1}, {0: ([0, 0], 0)})
        with pytest.raises(Exception, match="row 3: a dependence"):
            module.check_definite(named_columns, weights, rows | {3: ([-2, 0, -5], 0)})
    finally:
        module.exceeds = original


def unit_shifts(module):
    """Rows over different powers of two are brought to the same one."""
    assert module.add_up({0: 3, 1: 1}, {0: ([1, 2], 0), 1: ([5, 7], 2)}) == ([17, 31], 2)
    even, _ = named(TABLES[1])
    mixed = {i: ([v << i for v in row], i) for i, (row, _) in even.items()}
    said = []
    original, module.exceeds = module.exceeds, lambda *given: said.append(given) or True
    try:
        for rows in (even, mixed):
            module.check_definite({"dependences": []}, dict.fromkeys(rows, 1), rows)
    finally:
        module.exceeds = original
    assert said[0] == said[1]


def mistakes_proof(**changes):
    """Two pairs of contradicting rows, and a copy: every hyperplane costs 2 at least."""
    proof = {
        "data": {"rows": "5"}, "costs": None, "unit": "1/1", "least": "2", "copies": [["0", "4"]],
        "mistaken_rows": ["1", "3"],
        "obstructions": [{"rows": ["0", "1"], "weights": ["1", "1"]}, {"rows": ["2", "3"], "weights": ["1", "1"]}],
        "leaves": [{"rows": [], "right": [], "obstructions": ["0", "1"], "units": ["1048576", "1048576"]}],
    }  # fmt: skip
    return proof | changes


ROWS = {0: ([1, 1], 0), 1: ([-1, -1], 0), 2: ([2, 1], 0), 3: ([-2, -1], 0), 4: ([1, 1], 0)}
HALF = {"rows": [], "right": [], "obstructions": ["0"], "units": ["1048576"]}
WRONG_BOUNDS = [
    ({"least": "3"}, 1),
    ({"copies": [["0", "1"]]}, 1),  # not equal
    ({"copies": [["0"]]}, 2),
    ({"copies": [["0", "4"], ["4", "0"]]}, 2),
    ({"copies": [["4", "0"]]}, 2),  # the obstruction then names a copy
    ({"costs": ["1", "1", "1", "1"]}, 2),
    ({"costs": ["1", "1", "1", "1", "-1"]}, 2),
    ({"unit": "1/2"}, 2),
    ({"mistaken_rows": ["1"]}, 1),
    ({"leaves": []}, 1),
    ({"leaves": [HALF]}, 1),
    ({"leaves": [HALF | {"obstructions": ["0", "0"], "units": ["1048576", "1048576"]}]}, 1),  # row 1 used twice
    ({"leaves": [HALF | {"obstructions": ["2"]}]}, 2),
    ({"leaves": [HALF | {"units": ["-1"]}]}, 2),
    ({"leaves": [HALF | {"rows": ["4"], "right": [True]}, HALF | {"rows": ["4"], "right": [False]}]}, 2),  # a copy
    ({"leaves": [HALF | {"rows": ["1"], "right": [False]}, HALF | {"rows": ["1"], "right": [True]}]}, 1),  # mistaken
    ({"obstructions": [{"rows": ["0", "1"], "weights": ["1", "2"]}]}, 1),
    ({"obstructions": [{"rows": ["4", "1"], "weights": ["1", "1"]}]}, 2),  # a copy
]
CASES = [
    {"rows": ["1"], "right": [True], "obstructions": ["0", "1"], "units": ["1048576", "1048576"]},
    {"rows": ["1"], "right": [False], "obstructions": ["1"], "units": ["1048576"]},
]  # right: row 0 and its copy are mistaken, or they cost less; the least of both cases counts


CHEAP = CASES[1] | {"obstructions": [], "units": []}  # a case that costs 1 and no more


def unit_least_of_all_cases(module):
    """The cheapest case counts, all cases must be there, and all copies and all columns are looked at."""
    for leaves in ([CASES[0], CHEAP], [CHEAP, CASES[0]], [CASES[0]], [CASES[1]]):
        with pytest.raises(Exception, match=r"do not prove the bound|not those of a tree"):
            module.check_mistakes(mistakes_proof(leaves=leaves), ROWS, {1, 3})
    module.check_mistakes(mistakes_proof(leaves=[CASES[0], CHEAP], least="1"), ROWS, {1, 3})
    partly = {"rows": ["2", "1"], "weights": ["1", "1"]}  # cancels in the second column alone
    for changes, status in (
        ({"copies": [["0", "4", "2"]]}, 1), ({"copies": [["0", "4"], ["2"]]}, 2), ({"obstructions": [partly]}, 1),
    ):  # fmt: skip
        with pytest.raises(Exception) as error:
            module.check_mistakes(mistakes_proof(**changes), ROWS, {1, 3})
        assert error.value.args[1] == status, changes
    wrong = {"rows": ["0"], "right": [False], "obstructions": ["0"], "units": ["1"]}
    with pytest.raises(Exception, match="an obstruction with a mistaken row"):
        module.cost_of_leaf(wrong, [{0: 1, 1: 1}], {0: 1, 1: 1})
    later = {"rows": [0, 2], "weights": ["1", "1"], "dependences": []}  # both on their sides: no obstruction
    with pytest.raises(Exception, match="not proved to be an obstruction"):
        module.check_mistakes(
            mistakes_proof(obstructions=[], definite_obstructions=[later], leaves=[HALF], least="1"), ROWS, {1, 3}
        )
    every = {"rows": ["0", "1"], "right": [False, False], "obstructions": [], "units": []}
    assert module.cost_of_leaf(every, [], {0: 1, 1: 2}) == 3 * 2**20


def unit_mistakes(module):
    """A true bound, the wrong ones next to it, and the least of several cases."""
    module.check_mistakes(mistakes_proof(), ROWS, {1, 3})
    module.check_mistakes(mistakes_proof(leaves=CASES), ROWS, {1, 3})
    module.check_mistakes(mistakes_proof(leaves=CASES[::-1]), ROWS, {1, 3})
    module.check_mistakes(
        mistakes_proof(costs=["0"] * 5, unit="1/2", least="0", leaves=[HALF | {"units": ["0"]}]), ROWS, {1, 3}
    )
    for changes, status in WRONG_BOUNDS:
        with pytest.raises(Exception) as error:
            module.check_mistakes(mistakes_proof(**changes), ROWS, {1, 3})
        assert error.value.args[1] == status, changes
    costs = ["3", "1", "1", "1", "1"]
    for order in (CASES, CASES[::-1]):  # 3 and 4 for the right case, 1 + 1 for the other
        more = [case | {"units": [str(4 * 2**20)] if case["right"] == [False] else case["units"]} for case in order]
        with pytest.raises(Exception, match="count for more than its cost"):
            module.check_mistakes(mistakes_proof(costs=costs, leaves=more), ROWS, {1, 3})
        with pytest.raises(Exception, match="do not prove the bound"):
            module.check_mistakes(mistakes_proof(costs=costs, leaves=order, least="3"), ROWS, {1, 3})


def unit_leaf(module):
    """What a case costs: mistaken rows, and the multipliers of obstructions; none where an obstruction is all right."""
    found, cost = [{0: 1, 1: 1}, {1: 1, 2: 1}], {0: 1, 1: 2, 2: 1}
    leaf = {"rows": ["0"], "right": [True], "obstructions": ["0", "1"], "units": ["7", "5"]}
    assert module.cost_of_leaf(leaf, found, cost) == 12
    assert (
        module.cost_of_leaf(leaf | {"right": [False], "obstructions": ["1"], "units": ["5"]}, found, cost) == 2**20 + 5
    )
    both = {"rows": ["0", "1"], "right": [True, True], "obstructions": ["0"], "units": ["1"]}
    assert module.cost_of_leaf(both, found, cost) is None
    full = leaf | {"units": [str(2**20), str(2**20)]}
    assert module.cost_of_leaf(full, found, cost) == 2 * 2**20  # row 1 is used up, and no more
    with pytest.raises(Exception, match="more than its cost"):
        module.cost_of_leaf(full | {"units": [str(2**20), str(2**20 + 1)]}, found, cost)
    with pytest.raises(Exception, match="a row twice"):
        module.cost_of_leaf(leaf | {"rows": ["0", "0"], "right": [True, True]}, found, cost)


def unit_tree(module):
    """All cases of a tree, and no others."""
    module.require_all_cases([[]])
    module.require_all_cases([[(1, True)], [(1, False), (2, True)], [(1, False), (2, False)]])
    for paths in (
        [], [[(1, True)]], [[(1, False)]], [[(1, True)], [(2, False)]], [[], [(1, True)], [(1, False)]],
        [[(1, True)], [(1, True)]],
        [[(1, True)], [(1, False), (2, True)]], [[], []],
    ):  # fmt: skip
        with pytest.raises(Exception, match="not those of a tree"):
            module.require_all_cases(paths)


def unit_near(module):
    """The high end of the margin, exactly and just below."""
    rows = {0: ([0, 1], 0), 1: ([-6, -2], 1)}  # z of the points 0 and 3
    module.check_near({0: 1, 1: 1}, rows, True, 1.5)
    with pytest.raises(Exception, match="high end"):
        module.check_near({0: 1, 1: 1}, rows, True, math.nextafter(1.5, 0))
    with pytest.raises(Exception, match="one class"):
        module.check_near({0: 1}, rows, True, 9.0)
    module.check_near({0: 2, 1: 2}, {0: ([3], 0), 1: ([5], 0)}, False, 4.0)
    with pytest.raises(Exception, match="high end"):
        module.check_near({0: 2, 1: 2}, {0: ([3], 0), 1: ([5], 0)}, False, math.nextafter(4.0, 0))
    three = {0: ([0, 1], 0), 1: ([0, 1], 0), 2: ([-2, -1], 0)}
    module.check_near({0: 1, 1: 2, 2: 5}, three, True, 1.0)
    with pytest.raises(Exception, match="high end"):
        module.check_near({0: 1, 1: 2, 2: 5}, three, True, math.nextafter(1.0, 0))


def claim(kind, **parts):
    """What a proof about rows of two columns and no bias says."""
    data = {"columns": "2", "bias": False}
    return {"data": data, "kind": kind, "question": (0, 1), "separated_rows": None} | parts


def accepts(module, proof, rows):
    """Whether the rows bear the claim out."""
    try:
        module.check_claim(proof, lambda: [(i, z, 0) for i, z in enumerate(rows)])
    except Exception as error:
        assert error.args[1] == 1  # refuted
        return False
    return True


def unit_spans(module):
    """A positive-definite obstruction in one column speaks of rows with others only where no more is said."""
    on_it = [[3, 0], [-3, 0], [2, 0], [-2, 0]]
    definite = {"rows": ["0", "1", "2", "3"], "weights": ["1"] * 4, "dependences": []}
    for other, inside in (([5, 0], True), ([5, 1], False), ([0, 1], False)):
        rows = [*on_it, other]
        assert accepts(module, claim("overlapping", definite=definite), rows) is inside
        assert accepts(module, claim("not-separable", definite=definite), rows)
    wide = [[*z, 0] for z in on_it]
    for other, inside in (([5, 0, 0], True), ([5, 1, 0], False), ([5, 0, 1], False), ([0, 1, 1], False)):
        proof = claim("overlapping", definite=definite)
        assert accepts(module, proof | {"data": {"columns": "3", "bias": False}}, [*wide, other]) is inside


def unit_touching(module):
    """Rows that all lie on a hyperplane do not touch: one of them must be off it."""
    spread = {"rows": ["0", "1"], "weights": ["1", "1"]}
    parts = {"obstruction": spread, "spread": spread, "separator": {"weights": ["0", "1"], "bias_weight": None}}
    flat = [[3, 0], [-3, 0]]
    assert accepts(module, claim("touching", separated_rows=["2"], **parts), [*flat, [1, 1]])
    assert not accepts(module, claim("touching", separated_rows=[], **parts), flat)
    assert not accepts(module, claim("touching", separated_rows=[], **parts), [*flat, [1, 1]])


def unit_numerals(module):
    """Integers of any length that a binary64 can come near to, and no longer ones."""
    assert module.read_number("9" * 300, "exact-integers") == int("9" * 300)
    for text in ("1e400", "9" * 400):
        with pytest.raises(Exception, match="not a finite number"):
            module.read_number(text, "decimal")


UNITS = [value for name, value in list(globals().items()) if name.startswith("unit_")]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.__name__.removeprefix("unit_"))
def test_the_mathematics_of_the_checker_is_exact(unit):
    unit(checker)
