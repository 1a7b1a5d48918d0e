"""The theorems: each one function, with its proof, from numbers to a `Promise`.

The letters: n rows, d columns, D weights (d, plus 1 for the bias), and 1 - delta the probability with which a promise
holds. If a theorem fixes a whole number k beforehand (mistakes, rows that matter, bits) but k is read off the table,
each k gets its part of delta, delta/((k + 1)(k + 2)): together these parts are delta.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import bdtr, gammaln, logsumexp, rel_entr, xlog1py

from linsep import arguments
from linsep.report import count
from linsep.theory.promise import COIN, Promise, percent, shown_as

DELTA = 0.05  # the part of all tables for which a promise may fail
MOST_ROWS = 10**30
EXACT_WIDTH = 2000  # columns up to which labelings are counted in exact integers
STIRLING = 100.0  # from here on Stirling's series is exact to the last digits
SAME_SOURCE = "the rows are independent draws from the distribution that new rows come from"
ANY = "any separator"
WIDEST, LAST, VOTE = "the widest hyperplane", "the Perceptron's last weights", "the vote of one pass"


# The Perceptron ------------------------------------------------------------------------------------------


def novikoff(radius: float, gamma: float) -> Promise:
    """At most (R/gamma)² updates, in any order. `linsep.novikoff` finds both numbers, certified.

    Parameters
    ----------
    radius, gamma : float
        R and gamma of the homogenised rows.

    Returns
    -------
    Promise
        A number of updates.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.novikoff(3, 0.5).value
    36
    """
    radius, gamma = arguments.positive("radius", radius), arguments.positive("gamma", gamma)
    if gamma > radius:
        raise arguments.refused("gamma", gamma, f"at most the radius, {radius:g}: no row is farther than R from 0")
    most = math.floor(Fraction(radius) ** 2 / Fraction(gamma) ** 2)
    return Promise(
        "Novikoff", "the Perceptron", "updates", most,
        statement=f"The Perceptron makes at most {shown_as('updates', most)}, in any order of the rows.",
        formula=f"(R/gamma)², R = {radius:.6g}, gamma = {gamma:.6g}",
        conditions="no signed row is longer than R, and some unit vector has each row on its side, at least gamma away",
        source="Novikoff, On convergence proofs for perceptrons (1962)",
    )  # fmt: skip


def bits(s: int, t: int) -> Promise:
    """With integer coordinates of s bits, after t updates no weight is longer than s + log2(t) bits.

    |w_j| <= t·(2^s - 1), a sum of t coordinates.

    Parameters
    ----------
    s, t : int
        The bits of a coordinate, and the number of updates.

    Returns
    -------
    Promise
        A number of bits.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.bits(8, 1000).value
    18
    """
    s, t = arguments.whole("s", s, 1), arguments.whole("t", t, 1)
    most = s + (t - 1).bit_length()
    return Promise(
        "bits", "the Perceptron", "bits", most,
        statement=f"After {count(t, 'update')} no weight has more than {count(most, 'bit')} plus a sign.",
        formula=f"s + ceil(log2(t)), s = {s}, t = {t:,}",
        conditions="the coordinates are integers of s bits plus a sign, and the Perceptron starts at 0",
        source="Tao, lecture notes on linear classification",
    )  # fmt: skip


# Counting ------------------------------------------------------------------------------------------------


def labelings(n: int, d: int, *, bias: bool = True) -> int:
    """Count the linearly separable ones among the 2^n labelings of n points in general position, exactly.

    2·(C(n-1, 0) + ... + C(n-1, D-1)), where D = d + 1 with a bias, and d for hyperplanes through the origin. Points in
    special position (three on a line, two equal) have fewer.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    bias : bool
        Whether hyperplanes need not pass through the origin.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.labelings(4, 2)  # of 16: all but the two of XOR
    14
    """
    n, width = arguments.whole("n", n, 1), _width(d, bias)
    if n <= width:
        return int(2**n)
    total, term = 0, 1
    for k in range(width):
        total += term
        term = term * (n - 1 - k) // (k + 1)
    return 2 * total


def cover(n: int, d: int, *, bias: bool = True, limit: float = DELTA) -> Promise:
    """The probability that labels drawn by tossing a coin are linearly separable: Cover's function-counting theorem.

    That a table is separable means something only if this is small. At n = 2·D, the capacity, it is 1/2.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    bias : bool
        Whether hyperplanes need not pass through the origin.
    limit : float
        The promise says something if its value is below this.

    Returns
    -------
    Promise
        A probability.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.cover(6, 2).value
    0.5
    >>> theory.cover(6, 2).here
    'vacuous here: n is 6, it needs 12'
    """
    n, width, limit = arguments.whole("n", n, 1), _width(d, bias), arguments.part("limit", limit)

    def chance(n: int) -> float:
        """2·(C(n-1, 0) + ... + C(n-1, D-1)) / 2^n."""
        if n <= width:
            return 1.0
        if width > EXACT_WIDTH:
            return float(bdtr(width - 1, n - 1, 0.5))
        found = labelings(n, width, bias=False)
        shift = max(0, found.bit_length() - 64)  # such integers are beyond the largest double
        return math.ldexp(found >> shift, shift - n)

    value = chance(n)
    shown = shown_as("probability", value)
    return Promise(
        "Cover", "random labels", "probability", value,
        statement=f"Random labels of these {n:,} rows would be separable with probability at most {shown}.",
        formula=f"2·(C(n-1, 0) + ... + C(n-1, D-1)) / 2^n, n = {n:,}, D = {width:,}",
        conditions="each label is a fair coin; equality for rows in general position",
        source="Cover, Geometrical and statistical properties of systems of linear inequalities (1965)",
        n=n, limit=limit, needs=_needs(chance, limit),
    )  # fmt: skip


# Every hyperplane ----------------------------------------------------------------------------------------


def vc(n: int, d: int, *, mistakes: int = 0, bias: bool = True, error: float = COIN, delta: float = DELTA) -> Promise:
    """The error of every hyperplane with at most `mistakes` mistakes on n rows, from the VC dimension D.

    Proof. Suppose that one of them has m mistakes here and an error above k/n. On n more rows it makes k mistakes or
    more with probability at least 1/2, since no median of a binomial is below its mean rounded down. Put all 2n rows
    together and split them again at random: a labeling with m + k mistakes has at most m of them in the first half with
    the hypergeometric probability H(m; k), and there are at most S(2n) labelings. So k is large enough if
    2·S(2n)·H(m; k) <= delta_m. S is Cover's count; without bias, where rows may lie on the hyperplane, Sauer's bound.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    mistakes : int
        The number of mistakes on these rows.
    bias : bool
        Whether hyperplanes need not pass through the origin.
    error, delta : float
        The promise says something if its value is below `error`; it fails for at most a part `delta` of all tables.

    Returns
    -------
    Promise
        An error.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.vc(100, 10).here
    'vacuous here: n is 100, it needs 103'
    >>> theory.vc(100, 10, error=0.01).needs
    13201
    """
    n, width, mistakes = arguments.whole("n", n, 1), _width(d, bias), _among("mistakes", mistakes, n)

    def bound(rows: int) -> float:
        made = -(-mistakes * rows // n)
        return _vc_error(rows, width, made, bias, _share(made, delta))

    about = f"any hyperplane with {count(mistakes, 'mistake')}" if mistakes else ANY
    subject = f"{about} at most on these {n:,} rows" if mistakes else f"{about} of these {n:,} rows"
    return _bound_on(
        "VC dimension", about, subject, n, error, delta, bound,
        always=mistakes / n,
        formula=f"k/n, 2·S(2n)·H(m; k) <= delta/((m+1)(m+2)), D = {width:,}, m = {mistakes:,}",
        source="Vapnik and Chervonenkis (1971); Blumer, Ehrenfeucht, Haussler and Warmuth (1989)",
    )  # fmt: skip


def _vc_error(n: int, width: int, m: int, bias: bool, delta: float) -> float:
    """The smallest k/n that the proof allows."""
    room = math.log(delta / 2) - _log_labelings(2 * n, width, bias)

    def is_enough(k: int) -> bool:
        """Whether H(m; k) is small enough: its largest term, and the others as a geometric series (log-concavity)."""
        ratio = m * (n - k) / ((k + 1) * (n - m + 1))
        if ratio >= 1:
            return False
        split: float = _log_falling(n, m) + _log_falling(n, k) - _log_falling(2 * n, m + k)
        largest = _log_choose(m + k, m) + split  # C(m+k, m)·C(2n-m-k, n-m) / C(2n, n)
        return largest - math.log1p(-ratio) <= room

    return (smallest(is_enough, n) or n) / n if m < n else 1.0


def _log_labelings(m: int, width: int, bias: bool) -> float:
    """The logarithm of the growth function of halfspaces: Cover's count, or Sauer's bound through the origin."""
    k = np.arange(min(width - 1, m - 1) + 1 if bias else min(width, m) + 1)
    terms = _log_falling(m - 1 if bias else m, k) - gammaln(k + 1)
    return float(logsumexp(terms)) + (math.log(2) if bias else 0.0)


def occam(n: int, d: int, weight_bits: int, *, bias: bool = True, error: float = COIN, delta: float = DELTA) -> Promise:
    """The error of a hyperplane without mistakes on n rows whose integer weights have `weight_bits` bits plus a sign.

    There are (2^(bits+1) - 1)^D of them, and one with an error above e passes n rows with probability (1 - e)^n.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    weight_bits : int
        The bits of a weight, without its sign.
    bias : bool
        Whether the bias is one more weight.
    error, delta : float
        The promise says something if its value is below `error`; it fails for at most a part `delta` of all tables.

    Returns
    -------
    Promise
        An error.

    Examples
    --------
    >>> from linsep import theory
    >>> round(theory.occam(1000, 2, 8).value, 4)
    0.0259
    """
    n, width, size = arguments.whole("n", n, 1), _width(d, bias), arguments.whole("weight_bits", weight_bits, 1)
    nats = width * ((size + 1) * math.log(2) + math.log1p(-(2.0 ** -(size + 1)))) - math.log(_share(size, delta))
    about = f"{ANY} with {size}-bit weights"
    return _bound_on(
        "Occam's razor", about, f"{ANY} of these {n:,} rows with weights of {count(size, 'bit')}", n, error, delta,
        lambda rows: -math.expm1(-nats / rows),
        formula=f"1 - (delta/((s+1)(s+2)·(2^(s+1)-1)^D))^(1/n), D = {width:,}, s = {size}",
        source="Blumer, Ehrenfeucht, Haussler and Warmuth, Occam's razor (1987)",
    )  # fmt: skip


def margin(n: int, bound: float, *, error: float = COIN, delta: float = DELTA) -> Promise:
    """The error of a hyperplane that separates n rows with margin gamma, where (R/gamma)² is `bound`: in any dimension.

    Proof. Let B be the bound rounded up. A loss that falls from 1 at score 0 to 0 at R/sqrt(B) is 0 on all rows and
    never below the 0-1 loss; its slope is sqrt(B)/R. The Rademacher complexity of unit vectors is at most R/sqrt(n);
    twice it times the slope (contraction) is the first term, and McDiarmid's inequality with delta_B the second.

    Parameters
    ----------
    n : int
        The number of rows.
    bound : float
        (R/gamma)².
    error, delta : float
        The promise says something if its value is below `error`; it fails for at most a part `delta` of all tables.

    Returns
    -------
    Promise
        An error.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.margin(1000, 55).here
    'vacuous here: n is 1,000, it needs 1,182'
    """
    n, whole = arguments.whole("n", n, 1), math.ceil(arguments.positive("bound", bound))
    if bound < 1:
        raise arguments.refused("bound", bound, "at least 1: gamma is at most R")
    nats = -math.log(_share(whole, delta))
    about = f"{ANY} with margin gamma"
    return _bound_on(
        "margin", about, f"{ANY} of these {n:,} rows with margin gamma", n, error, delta,
        lambda rows: 2 * math.sqrt(whole / rows) + math.sqrt(nats / (2 * rows)),
        formula=f"2·sqrt(B/n) + sqrt(ln((B+1)(B+2)/delta)/(2n)), B = ceil((R/gamma)²) = {whole:,}",
        source="Bartlett and Mendelson (2002); Mohri, Rostamizadeh and Talwalkar, Foundations, chapter 5",
        also="; no row, old or new, is longer than R",
    )  # fmt: skip


# One hyperplane ------------------------------------------------------------------------------------------


def compression(n: int, support: int, *, about: str = WIDEST, error: float = COIN, delta: float = DELTA) -> Promise:
    """The error of a hyperplane that `support` of the n rows determine, and that is right about all others.

    There are C(n, k) ways to choose k rows; the hyperplane that they determine is tested on the n - k others, which did
    not influence it. The rows that the cyclic Perceptron corrected determine its last weights: the others never
    influenced the run.

    Parameters
    ----------
    n, support : int
        The rows, and those of them that determine the hyperplane.
    about : str
        What the hyperplane is called in the statement.
    error, delta : float
        The promise says something if its value is below `error`; it fails for at most a part `delta` of all tables.

    Returns
    -------
    Promise
        An error.

    Examples
    --------
    >>> from linsep import theory
    >>> round(theory.compression(1000, 3).value, 4)
    0.0247
    """
    n = arguments.whole("n", n, 1)
    k = _among("support", support, n)

    def bound(rows: int) -> float:
        if k >= rows:
            return 1.0
        return -math.expm1((math.log(_share(k, delta)) - _log_choose(rows, k)) / (rows - k))

    return _bound_on(
        "compression", about, f"{about}, which {k:,} of the {n:,} rows determine", n, error, delta, bound,
        formula=f"1 - (delta/((k+1)(k+2)·C(n, k)))^(1/(n-k)), k = {k:,}",
        source="Littlestone and Warmuth (1986); Floyd and Warmuth (1995); for the Perceptron, Graepel et al. (2005)",
        also="; the hyperplane of these rows alone has no mistake on the others",
    )  # fmt: skip


def leave_one_out(n: int, support: int, *, about: str = WIDEST, grows: bool = False, error: float = COIN) -> Promise:
    """The error, on average over tables, of a hyperplane that changes only if one of `support` rows is left out.

    A row that does not matter is still on its side after it is left out: at most `support` of n such tests fail,
    and the average of each is the error after n - 1 rows. For the vote of one pass with M mistakes, at most 2·M tests
    fail: a vector drawn from the pass fails as often as the next row is a mistake, and if the vote is wrong, half of
    the vectors are.

    Parameters
    ----------
    n, support : int
        The rows, and those of them that matter.
    about : str
        What the hyperplane is called in the statement.
    grows : bool
        Whether more rows would bring more rows that matter, as they bring more mistakes.
    error : float
        The promise says something if its value is below this.

    Returns
    -------
    Promise
        An error.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.leave_one_out(150, 3).value
    0.02
    """
    n = arguments.whole("n", n, 1)
    k = _among("support", support, n)
    return _bound_on(
        "leave one out", about, f"{about}, learned from {n - 1:,} rows", n, error, None,
        lambda rows: k / (n if grows else rows), always=k / n if grows else 0.0,
        formula=f"k/n, k = {k:,}",
        source="Vapnik and Chapelle (2000); for the vote, Helmbold and Warmuth (1995), Freund and Schapire (1999)",
        also="; an average over tables, of which this is one",
    )  # fmt: skip


def online(n: int, mistakes: int, *, error: float = COIN, delta: float = DELTA) -> Promise:
    """The error of weights drawn from one pass over n rows, given its mistakes, on any data; a vote has at most twice.

    Proof. The weights before a row have not seen it: it is a mistake with probability p_t, their error. So the product
    of exp(-c·mistake_t)/(1 - p_t·(1 - exp(-c))) is 1 on average for each c, above 1/delta_M with probability at most
    delta_M, and the best c gives kl(M/n, mean p) <= ln(1/delta_M)/n, where kl is the relative entropy of two coins.

    Parameters
    ----------
    n, mistakes : int
        The numbers of rows and of mistakes of the pass.
    error, delta : float
        The promise says something if its value is below `error`; it fails for at most a part `delta` of all tables.

    Returns
    -------
    Promise
        An error.

    Examples
    --------
    >>> from linsep import theory
    >>> round(theory.online(1000, 9).value, 4)
    0.0261
    """
    n = arguments.whole("n", n, 1)
    mistakes = _among("mistakes", mistakes, n)

    def bound(rows: int) -> float:
        made = -(-mistakes * rows // n)
        return _most_likely(min(1.0, made / rows), -math.log(_share(made, delta)) / rows)

    about = "a vector drawn from one pass"
    return _bound_on(
        "online to batch", about, f"{about} with {count(mistakes, 'mistake')} in {n:,} rows", n, error, delta, bound,
        always=mistakes / n,
        formula=f"kl(M/n, error) = ln((M+1)(M+2)/delta)/n, M = {mistakes:,}",
        source="Cesa-Bianchi, Conconi and Gentile (2004), with Chernoff's bound in place of Hoeffding's",
        also=", and the pass takes them in that order or in a random one",
    )  # fmt: skip


def _most_likely(rate: float, nats: float) -> float:
    """The largest p with kl(rate, p) <= nats, the relative entropy of two coins."""
    low, high = rate, 1.0
    for _ in range(60):
        p = (low + high) / 2
        is_within = rel_entr(rate, p) + xlog1py(1 - rate, -rate) - xlog1py(1 - rate, -p) <= nats
        low, high = (p, high) if is_within else (low, p)
    return high


# What the theorems share ---------------------------------------------------------------------------------


def _bound_on(
    name: str,
    about: str,
    subject: str,
    n: int,
    error: float,
    delta: float | None,
    bound: Callable[[int], float],
    *,
    formula: str,
    source: str,
    also: str = "",
    always: float = 0.0,
) -> Promise:
    """A promise about the error; `bound` is a function of the number of rows, and `always` its limit as that grows."""
    error = arguments.part("error", error)
    value = min(1.0, bound(n))
    sure = "On average" if delta is None else f"With probability {percent(1 - arguments.part('delta', delta))}"
    return Promise(
        name, about, "error", value,
        statement=f"{sure}, at most {percent(value)} of new rows are mistakes of {subject}.",
        formula=formula,
        conditions=SAME_SOURCE + also,
        source=source,
        n=n, limit=error, needs=_needs(bound, error) if always < error else None,
    )  # fmt: skip


def _needs(bound: Callable[[int], float], limit: float) -> int | None:
    """A number of rows for which a bound is below the limit, while for one less it is not."""
    return smallest(lambda rows: bound(rows) < limit, MOST_ROWS)


def smallest(is_enough: Callable[[int], bool], most: int) -> int | None:
    """A number that is enough while one less is not, by doubling and bisection; None if `most` is not enough."""
    low, high = 0, 1
    while not is_enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _share(k: int, delta: float) -> float:
    """The part of delta for the case k = 0, 1, 2, ...: together these are delta."""
    return arguments.part("delta", delta) / ((k + 1) * (k + 2))


def _among(name: str, value: int, n: int) -> int:
    """A number of rows, which cannot be more than all n."""
    found = arguments.whole(name, value, 0)
    if found > n:
        raise arguments.refused(name, value, f"at most n, which is {n:,}")
    return found


def _width(d: int, bias: bool) -> int:
    """D, the number of weights with the bias: the VC dimension of these hyperplanes."""
    return arguments.whole("d", d, 1) + arguments.flag("bias", bias)


def _log_choose(n: int, k: int) -> float:
    k = min(k, n - k)
    return float(_log_falling(n, k)) - math.lgamma(k + 1)


def _log_falling(n: int, k: Any) -> Any:
    """The logarithm of n!/(n - k)!: by Stirling's series, as two logarithms of large factorials differ by rounding."""
    a = float(n) + 1.0
    b = a - k
    far = np.maximum(b, STIRLING)
    shrunk = np.where(k < a / 2, np.log1p(-np.minimum(k / a, 0.5)), np.log(far / a))  # log(b/a)
    series = (1 / a - 1 / far) / 12 - (1 / a**3 - 1 / far**3) / 360
    return np.where(b < STIRLING, gammaln(a) - gammaln(b), k * np.log(a) - (far - 0.5) * shrunk - k + series)
