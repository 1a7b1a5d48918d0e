"""What a formula may contain: "died ~ age + C(site)", split into columns, functions of them, and the left side.

formulaic evaluates Python code for the functions in a formula. So that no formula can run a program, wherever its
text comes from, each function is checked first: columns of the table, numbers, text, arithmetic, comparisons, and
calls of the functions listed here. Nothing else is evaluated, and no variable of the caller is visible.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from linsep.errors import ArgumentError, MissingPackageError, shown
from linsep.faults import few

CODINGS = ("treatment", "sum", "helmert", "diff", "poly", "sas")
PLAIN = ("exp", "expm1", "log", "log10", "log1p", "log2", "sqrt")
SHAPES = ("poly", "bs", "cr", "cs", "cc")  # functions of one column that make several
FUNCTIONS = {
    *("C", "I", "Q", "Diff", "Helmert", "Poly", "Sum", "Treatment", "center", "scale", "standardize"),
    *PLAIN,
    *SHAPES,
    *(f"contr.{name}" for name in CODINGS),
    *(f"np.{name}" for name in PLAIN),
}
OFFERED = f"{', '.join(PLAIN)}, I, C with contr.{', contr.'.join(CODINGS)}, center, scale, {', '.join(SHAPES)}"
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr)
WIDEST = 100  # columns that one function may make
LONGEST = 10_000  # characters of a formula
MOST_CROSSED = 5  # of (a + b)**5: formulaic writes down all products
OUTCOME = re.compile(r"\s*(?:(cbind|Surv)\s*\((.*)\)|(.*?))\s*", re.DOTALL)
NAME = r"(?:`[^`]+`|[^\W\d][\w.]*)"
ALONE = re.compile(rf"""[IQ]\(\s*(?:{NAME}|'[^']*'|"[^"]*")\s*\)""")  # a column as it is
QUOTED = re.compile(r"`([^`]*)`")


@dataclass(frozen=True, slots=True)
class Formula:
    """The parts of a formula; `terms` are those of formulaic, without strata and offsets."""

    text: str
    outcome: tuple[str, ...]  # the columns on the left: one, or two of cbind or Surv
    outcome_kind: str  # "", "cbind" or "Surv"
    terms: Any
    strata: str | None
    offsets: tuple[str, ...]
    columns: tuple[str, ...]  # on the right, each once
    coded: frozenset[str]  # columns that are in C(...), and nowhere else
    computed: frozenset[str]  # columns that are in a computation, as in I(2 * a) or log(a)

    @property
    def has_intercept(self) -> bool:
        """Whether the formula has an intercept, as it has unless it says 0."""
        return any(str(term) == "1" for term in self.terms)


def read_formula(text: str, available: Sequence[str], aside: Sequence[str] = ()) -> Formula:
    """A formula about these columns; a dot stands for all that are not on the left and not `aside`."""
    if len(text) > LONGEST:
        raise ArgumentError(f"The formula has {len(text):,} characters; at most {LONGEST:,} are read.")
    left, right = sides(text)
    kind, outcome = outcome_of(left)
    for name in outcome:
        _require_column(name, available)
    others = [name for name in available if name not in outcome and name not in aside]
    terms, strata, offsets = _pulled_out(_parsed(right, others, text))
    expressions = [factor.expr for term in terms for factor in term.factors if _is_python(factor)]
    looked_up = [factor.expr for term in terms for factor in term.factors if _is_lookup(factor)]
    used: dict[str, bool] = dict.fromkeys(looked_up, False)  # whether a column is only in C(...)
    computed = set[str]()
    for expression in (*expressions, *offsets):
        is_alone = expression not in offsets and ALONE.fullmatch(expression) is not None
        for name, is_coded in _columns_of(expression):
            used[name] = used.get(name, True) and is_coded
            computed |= set() if is_coded or is_alone else {name}
    for name in (*used, *([] if strata is None else [strata])):
        _require_column(name, available)
        if name in outcome:
            raise ArgumentError(f"{name!r} is on both sides of the formula.")
    coded = frozenset(name for name, is_coded in used.items() if is_coded)
    return Formula(text, outcome, kind, terms, strata, offsets, tuple(used), coded, frozenset(computed))


def named_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The columns on the left of a formula, and those on the right; None if a dot stands for all."""
    left, right = sides(text)
    outcome = outcome_of(left)[1]
    if re.search(r"(?<![\w.`])\.(?![\w.`])", QUOTED.sub("", right)):
        return outcome, None
    terms, strata, offsets = _pulled_out(_parsed(right, (), text))
    factors = [factor for term in terms for factor in term.factors]
    names = [factor.expr for factor in factors if _is_lookup(factor)]
    for expression in (*(factor.expr for factor in factors if _is_python(factor)), *offsets):
        names += [name for name, _ in _columns_of(expression)]
    return outcome, tuple(dict.fromkeys([*names, *([] if strata is None else [strata])]))


def sides(text: str) -> tuple[str, str]:
    """The text to the left and to the right of the tilde."""
    blank = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", lambda found: "_" * len(found[0]), text)
    if blank.count("~") != 1:
        raise ArgumentError(f"The formula {shown(text)} needs one ~, with the outcome on its left: died ~ age + site.")
    place = blank.index("~")
    return text[:place], text[place + 1 :]


def outcome_of(left: str) -> tuple[str, tuple[str, ...]]:
    """How the outcome is given, and its columns.

    >>> outcome_of(" died "), outcome_of("cbind(`n died`, alive)")
    (('', ('died',)), ('cbind', ('n died', 'alive')))
    """
    found = OUTCOME.fullmatch(left)
    assert found is not None  # it takes any text
    kind, inner, plain = found[1] or "", found[2], found[3]
    names = re.fullmatch(rf"\s*({NAME})\s*,\s*({NAME})\s*", inner) if kind else re.fullmatch(rf"({NAME})", plain)
    if names is None:
        raise ArgumentError(
            f"To the left of the ~ is {shown(left.strip())}: it must be a column, cbind(successes, failures) or "
            "Surv(time, event).",
            fix="Compute any other outcome as a column of its own first. A name with spaces goes between backticks.",
        )
    return kind, tuple(name.strip("`") for name in names.groups())


def _parsed(right: str, others: Sequence[str], text: str) -> list[Any]:
    """The terms on the right, as formulaic has them."""
    try:
        import formulaic
        from formulaic.errors import FormulaicError
    except ImportError:
        raise MissingPackageError("formulaic", "formula", "Formulas") from None
    if any(int(power) > MOST_CROSSED for power in re.findall(r"(?:\*\*|\^)\s*(\d+)", _without_functions(right))):
        raise ArgumentError(f"The formula {shown(text)} crosses more than {MOST_CROSSED} columns with each other.")
    if not right.strip():
        raise ArgumentError(f"There is nothing to the right of the ~ in {shown(text)}: name a predictor.")
    try:
        found = formulaic.Formula(right, _context={"__formulaic_variables_available__": list(others)})
    except (FormulaicError, SyntaxError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ArgumentError(f"The formula {shown(text)} cannot be read: {told_by(error)}") from None
    if not isinstance(found, formulaic.SimpleFormula):
        raise ArgumentError(
            f"The formula {shown(text)} has several parts: | and lists of formulas are not supported.",
            fix="For strata, write strata(column), or use the option strata=.",
        )
    return list(found)


def _without_functions(right: str) -> str:
    """The part of a formula that formulaic parses itself: names and operators, without the arguments of functions."""
    before = ""
    while before != right:
        before, right = right, re.sub(r"(?<=\w)\([^()]*\)", "", right)
    return right


def told_by(error: Exception) -> str:
    """What formulaic says, on one line and without its colours."""
    said = re.sub(r"\x1b?\[[0-9;]*m|[⧛⧚]", "", str(error)).strip().split("\n")[0]
    return said if said.endswith(".") else f"{said}."


def _pulled_out(terms: Sequence[Any]) -> tuple[list[Any], str | None, tuple[str, ...]]:
    """The terms without strata(...) and offset(...), and what these contain."""
    kept, strata, offsets = [], [], []
    for term in terms:
        calls = [re.fullmatch(r"(strata|offset)\((.*)\)", factor.expr, re.DOTALL) for factor in term.factors]
        found = next((call for call in calls if call is not None), None)
        if found is None:
            kept.append(term)
        elif len(calls) > 1:
            raise ArgumentError(f"{found[0]} is in a product, which has no meaning: make it its own term.")
        elif found[1] == "offset":
            offsets.append(found[2])
        elif re.fullmatch(NAME, found[2]):
            strata.append(found[2].strip("`"))
        else:
            raise ArgumentError(f"{found[0]}: strata are one column.", fix="Make one column that tells strata apart.")
    if len(strata) > 1:
        raise ArgumentError("The formula has strata twice.", fix="Make one column that tells strata apart.")
    return kept, strata[0] if strata else None, tuple(offsets)


def _is_python(factor: Any) -> bool:
    return str(factor.eval_method.value) == "python"


def _is_lookup(factor: Any) -> bool:
    return str(factor.eval_method.value) == "lookup"


def _require_column(name: str, available: Sequence[str]) -> None:
    if name not in available:
        raise ArgumentError(f"The formula names {name!r}, but the columns are {few(available, 20)}.")


# ---------------------------------------------------------------------------------------------------
# Functions
# ---------------------------------------------------------------------------------------------------


def _columns_of(expression: str) -> Iterator[tuple[str, bool]]:
    """The columns of a function, each with whether C(...) is around it; what is not allowed is refused."""
    quoted: dict[str, str] = {}

    def plain(found: "re.Match[str]") -> str:
        return quoted.setdefault(found[1], f"_quoted_{len(quoted)}_")

    try:
        tree = ast.parse(QUOTED.sub(plain, expression), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ArgumentError(f"{shown(expression)} in the formula cannot be read.") from None
    names = {given: name for name, given in quoted.items()}
    yield from ((names.get(name, name), is_coded) for name, is_coded in _Reader(expression).columns(tree))


@dataclass(frozen=True, slots=True)
class _Reader:
    """One function of a formula."""

    expression: str

    def columns(self, node: ast.AST, *, is_coded: bool = False) -> Iterator[tuple[str, bool]]:
        """The columns below a node."""
        match node:
            case ast.Name():
                yield node.id, is_coded
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                yield from self.columns(node.operand)
            case ast.BinOp() if isinstance(node.op, ARITHMETIC):
                self._require_numbers(node)
                for part in (node.left, node.right):
                    yield from self.columns(part)
            case ast.Compare(ops=[_], comparators=[right]) if not isinstance(node.ops[0], (ast.In, ast.NotIn)):
                for part in (node.left, right):
                    yield from self.columns(part)
            case ast.Call():
                yield from self._call(node)
            case _:
                raise self._refusal(ast.unparse(node))

    def _call(self, node: ast.Call) -> Iterator[tuple[str, bool]]:
        name = _dotted(node.func)
        if name not in FUNCTIONS:
            raise self._refusal(f"{name or ast.unparse(node.func)}(...)")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name == "Q":
            match given:
                case [ast.Constant(value=str(column))]:
                    yield column, False
                    return
            raise self._refusal(ast.unparse(node))
        for place, part in enumerate(given):
            if name in SHAPES:
                self._require_few(part)
            if place and _is_setting(part):
                continue
            yield from self.columns(part, is_coded=name == "C" and place == 0)

    def _require_numbers(self, node: ast.BinOp) -> None:
        """Refuse arithmetic that could use up memory: with text, and powers of numbers without a column."""
        for part in (node.left, node.right):
            if isinstance(part, ast.Constant) and not isinstance(part.value, (int, float)):
                raise self._refusal(ast.unparse(node))
        if isinstance(node.op, ast.Pow) and not any(isinstance(part, ast.Name) for part in ast.walk(node.left)):
            raise self._refusal(ast.unparse(node))

    def _require_few(self, part: ast.AST) -> None:
        for found in ast.walk(part):
            if isinstance(found, ast.Constant) and isinstance(found.value, int) and found.value > WIDEST:
                raise ArgumentError(f"{shown(self.expression)} would make more than {WIDEST} columns.")

    def _refusal(self, what: str) -> ArgumentError:
        return ArgumentError(
            f"{shown(what)} is not part of a formula: columns, numbers, arithmetic and these functions are: {OFFERED}.",
            fix="Compute anything else as a column of its own first.",
        )


def _is_setting(node: ast.AST) -> bool:
    """Whether an argument is a coding, or a list of constants, rather than something computed."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(isinstance(part, ast.Constant) for part in node.elts)
    return isinstance(node, (ast.Name, ast.Attribute)) and _dotted(node) in FUNCTIONS


def _dotted(node: ast.AST) -> str | None:
    """The name of a function: log, contr.sum, np.log."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=home), attr=name):
            return f"{home}.{name}"
    return None
