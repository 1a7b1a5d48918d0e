"""What a number in a file means: the nearest double, an exact integer, an exact decimal, or nothing at all."""

import datetime
import decimal
import gzip
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import linsep
from linsep import errors

pytestmark = pytest.mark.usefixtures("streamed")

BIG = 2**53 + 1


def opened(tmp_path, text, **options):
    path = tmp_path / "a.csv"
    path.write_text(text)
    return linsep.open(path, **{"label": "y", **options})


def parquet(tmp_path, **columns):
    pa.parquet.write_table(pa.table({**columns, "y": [0, 1]}), tmp_path / "a.parquet")
    return linsep.open(tmp_path / "a.parquet", label="y")


@pytest.mark.parametrize("cell", ["0x10", "1_000", '"1,5"', "１", "one", "1.2.3", "--1", "1e", "true"])
def test_what_is_no_number_is_refused_by_row_and_column(cell, tmp_path):
    with pytest.raises(errors.NotNumericError, match=r"row 1 \(line 3\), column 'x' holds .*: not a number") as caught:
        opened(tmp_path, f"x,y\n1,0\n{cell},1\n")
    facts = caught.value.facts()
    assert (facts["code"], facts["row"], facts["column"]) == ("E-NOT-A-NUMBER", 1, "x")
    assert facts["value"] == cell.strip('"') and facts["file"].endswith("a.csv") and facts["fix"]


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e400"])
def test_what_is_not_finite_is_refused(cell, tmp_path):
    with pytest.raises(errors.NotFiniteError, match=r"row 0 \(line 2\), column 'x' holds .*: not a finite number"):
        opened(tmp_path, f"x,y\n{cell},0\n2,1\n")


@pytest.mark.parametrize("cell", ["", "NA", "null"])
def test_a_missing_value_is_refused(cell, tmp_path):
    with pytest.raises(errors.MissingValueError, match=r"row 1 \(line 3\), column 'x' holds .*the value is missing"):
        opened(tmp_path, f"x,z,y\n1,1,0\n{cell},1,1\n")


@pytest.mark.parametrize(("cell", "value"), [(" 1.5 ", 1.5), ("+2", 2), (".5", 0.5), ("1e5", 1e5), ("0.1", 0.1)])
def test_a_decimal_is_the_nearest_double(cell, value, tmp_path):
    assert opened(tmp_path, f"x,y\n{cell},0\n2.5,1\n").take([0]).values[0, 0] == value


def test_integers_beyond_doubles_stay_exact_among_integers(tmp_path):
    source = opened(tmp_path, f"x,z,y\n{BIG},1,0\n{BIG + 1},1,1\n")
    assert source.take([0, 1]).values.tolist() == [[BIG, 1], [BIG + 1, 1]]
    assert linsep.decide(source).numbers == "exact-integers"


@pytest.mark.parametrize("row", [f"{BIG},0.5", f"{10**25},1", "1" * 400 + ",1"])
def test_integers_that_would_be_rounded_are_refused(row, tmp_path):
    with pytest.raises(errors.InputError) as caught:
        opened(tmp_path, f"x,z,y\n{row},0\n1,2,1\n")
    assert caught.value.code in ("E-INEXACT", "E-NOT-FINITE") and caught.value.row == 0


def test_a_large_double_is_no_integer(tmp_path):
    assert opened(tmp_path, "x,y\n1e300,0\n2,1\n").take([0]).values[0, 0] == 1e300


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2], pa.uint64()),
        pa.array([True, False]),
        pa.array(np.array([1.5, 2.5], np.float16)),
        pa.array([1.5, 2.5], pa.float32()),
        pa.array([decimal.Decimal("1.25"), decimal.Decimal("2")]),
        pa.array([-(2**63), 2**63 - 1]),
    ],
)
def test_numbers_of_parquet_are_read_as_they_are(column, tmp_path):
    values = parquet(tmp_path, x=column).take([0, 1]).values[:, 0]
    assert [Fraction(v) for v in values.tolist()] == [Fraction(v) for v in column.to_pylist()]


@pytest.mark.parametrize(
    ("column", "error"),
    [
        (pa.array([datetime.datetime(2020, 1, 1)] * 2), errors.ColumnTypeError),
        (pa.array([[1], [2]]), errors.ColumnTypeError),
        (pa.array([{"a": 1}] * 2), errors.ColumnTypeError),
        (pa.array([None, None]), errors.ColumnTypeError),
        (pa.array(["a", "b"]), errors.NotNumericError),
        (pa.array([1, None]), errors.MissingValueError),
        (pa.array([1.0, np.nan]), errors.NotFiniteError),
        (pa.array([2**64 - 1, 0], pa.uint64()), errors.InexactError),
        (pa.array([decimal.Decimal(10**30), decimal.Decimal(1)]), errors.InexactError),
    ],
)
def test_what_parquet_holds_besides_numbers_is_refused_by_name(column, error, tmp_path):
    with pytest.raises(error, match=r"a\.parquet.*x"):
        parquet(tmp_path, x=column)


def test_long_integers_beside_floats_are_refused_across_files(tmp_path):
    (tmp_path / "a.csv").write_text(f"x,y\n{BIG},0\n")
    (tmp_path / "b.csv").write_text("x,y\n0.5,1\n")
    with pytest.raises(errors.InexactError, match=r"a\.csv: row 0, column 'x': an integer beyond 2\^53"):
        linsep.open(tmp_path, label="y")


# The middle row lies between the others; as doubles, where 0.1 + 0.3 is not twice 0.2, it lies beside the line.
TENTHS = "a,b,y\n0.1,1,1\n0.2,2,0\n0.3,3,1\n"


def test_decimals_are_tenths_where_doubles_are_not(tmp_path):
    assert linsep.decide(opened(tmp_path, TENTHS)).kind == "separable"
    exact = linsep.decide(opened(tmp_path, TENTHS, numbers="decimal"))
    assert (exact.kind, exact.numbers) == ("overlapping", "decimal")
    assert exact.obstruction.rows == (0, 1, 2) and exact.obstruction.weights == (1, 2, 1)


@pytest.mark.parametrize("text", [TENTHS, "a,b,y\n0.10,1e2,0\n-1.5e-3,2,1\n 7 ,+3.25,1\n"])
def test_a_proof_about_decimals_is_checked_by_all_who_check(text, tmp_path):
    source = opened(tmp_path, text, numbers="decimal")
    verdict = linsep.decide(source)
    (tmp_path / "proof.json").write_text(verdict.to_json())
    again = linsep.verdict_from_json(verdict.to_json())
    again.verify(source)
    with pytest.raises(errors.CertificateError, match="reads numbers as decimal"):
        again.verify(opened(tmp_path, text))
    command = [sys.executable, "-m", "linsep.checker", tmp_path / "proof.json", tmp_path / "a.csv", "--label", "y"]
    assert subprocess.run(command, capture_output=True, text=True).stdout.startswith("VERIFIED")


def test_weights_of_a_decimal_verdict_are_those_of_the_decimals(tmp_path):
    source = opened(tmp_path, "a,y\n0.1,0\n0.3,1\n", numbers="decimal")
    assert source.facts.scales == (10,) and source.take([0]).values.tolist() == [[1]]
    verdict = linsep.decide(source)
    (w,), b = verdict.weights, verdict.bias_weight
    assert w * Fraction(1, 10) + b < 0 < w * Fraction(3, 10) + b


@pytest.mark.parametrize("cell", ["0.1234567890123456789", "12345678901234567890", "1e30", "1e-30"])
def test_too_many_digits_are_refused(cell, tmp_path):
    with pytest.raises(errors.TooManyDigitsError, match=rf"row 1 \(line 3\), column 'x' holds '{cell}'"):
        opened(tmp_path, f"x,y\n1,0\n{cell},1\n", numbers="decimal")


def test_decimals_are_for_verdicts(tmp_path):
    source = opened(tmp_path, TENTHS, numbers="decimal")
    for ask in (linsep.max_margin, linsep.novikoff, linsep.perceptron):
        with pytest.raises(errors.ArgumentError, match="Only decide, verify and mle_exists take exact decimals"):
            ask(source)
    assert linsep.mle_exists(source).exists == (linsep.decide(source).kind == "overlapping")


def test_long_integers_stay_exact_when_a_small_file_turns_out_to_be_large(tmp_path):
    rows = [k % 7 for k in range(20_000)] + [2**53 + 1 + 2 * k for k in range(10_000)] + [3] * 60_000
    text = "a,y\n" + "".join(f"{value},{k % 2}\n" for k, value in enumerate(rows))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))  # held in memory at first, then written down
    source = linsep.open(tmp_path / "a.csv.gz", label="y", memory="1MiB", cache=False)
    assert np.array_equal(np.concatenate([block.values[:, 0] for block in source.blocks()]), rows)
