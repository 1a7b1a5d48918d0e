"""What a number in a file means: the nearest double, an exact integer, an exact decimal, or nothing at all."""

import datetime
import decimal
import gzip
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import linsep
from linsep import errors
from linsep.cli import main

pytestmark = pytest.mark.usefixtures("streamed")

BIG = 2**53 + 1


def opened(tmp_path, text, **options):
    path = tmp_path / "a.csv"
    path.write_text(text)
    return linsep.open(path, **{"label": "y", **options})


def parquet(tmp_path, **columns):
    pq.write_table(pa.table({**columns, "y": [0, 1]}), tmp_path / "a.parquet")
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
    with pytest.raises(errors.NotFiniteError, match=r"row 0 \(line 2\), column 'x' holds .*not a finite number"):
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
        pa.array([decimal.Decimal("1.25"), decimal.Decimal("2")], pa.decimal128(38, 18)),
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


# ---- decimals of Parquet, Arrow and Feather ------------------------------------------------------------------------

D = decimal.Decimal
TENTHS_OF_ARROW = pa.table({"a": pa.array([D("0.1"), D("0.2"), D("0.3")]), "b": [1, 2, 3], "y": [1, 0, 1]})
WRITE = {
    "parquet": lambda table, path: pq.write_table(table, path, row_group_size=2),
    "feather": lambda table, path: pa.feather.write_feather(table, str(path)),
}


def written(folder, table, ending="parquet", name="t"):
    WRITE[ending](table, folder / f"{name}.{ending}")
    return folder / f"{name}.{ending}"


KINDS = [pa.decimal128(3, 1), pa.decimal128(38, 18), pa.decimal256(40, 20), pa.decimal32(3, 1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", WRITE)
def test_decimals_of_a_table_are_decided_exactly_from_memory_and_from_files(ending, kind, tmp_path):
    table = TENTHS_OF_ARROW.set_column(0, "a", pa.array([D("0.1"), D("0.2"), D("0.3")], kind))
    held = linsep.decide(table, "y")
    source = linsep.open(written(tmp_path, table, ending), label="y")
    read = linsep.decide(source)
    assert (read.kind, read.numbers) == (held.kind, held.numbers) == ("overlapping", "decimal")
    assert (source.facts.scales, source.take([0]).values.tolist()) == ((10, 1), [[1, 1]])
    read.verify(source)
    read.verify(linsep.on_files.open_for_proof(read, list(source.files)))


def test_decimals_of_parquet_are_doubles_where_that_is_said(tmp_path):
    source = linsep.open(written(tmp_path, TENTHS_OF_ARROW), label="y", numbers="binary64")
    verdict = linsep.decide(source)
    assert (verdict.kind, verdict.numbers, source.facts.scales) == ("separable", "binary64", None)
    verdict.verify(linsep.on_files.open_for_proof(verdict, list(source.files)))


def test_decimals_that_are_doubles_are_read_as_doubles_by_every_question(tmp_path):
    table = TENTHS_OF_ARROW.set_column(0, "a", pa.array([D("0.50"), D("-2.25"), D("3.00")]))
    source = linsep.open(written(tmp_path, table), label="y")
    assert source.facts.scales is None and source.take([1]).values.tolist() == [[-2.25, 2]]
    linsep.PerceptronClassifier().fit(source)


@pytest.mark.parametrize("ask", [linsep.max_margin, linsep.perceptron, linsep.on_files.in_memory])
def test_what_takes_no_decimals_refuses_those_of_parquet_and_says_how_to_read_them(ask, tmp_path):
    with pytest.raises(errors.ArgumentError, match=r"--numbers binary64"):
        ask(linsep.open(written(tmp_path, TENTHS_OF_ARROW), label="y"))


def test_a_decimal_of_38_digits_is_refused_by_row_and_column(tmp_path):
    table = TENTHS_OF_ARROW.set_column(0, "a", pa.array([D(1), D("0." + "3" * 38), D(2)], pa.decimal256(39, 38)))
    with pytest.raises(errors.InexactError, match=r"row 1, column 'a' holds .*numbers=\"binary64\""):
        linsep.open(written(tmp_path, table), label="y")


def test_a_float_beside_exact_decimals_is_refused_by_row_and_column(tmp_path):
    table = TENTHS_OF_ARROW.set_column(1, "b", pa.array([1.0, 2.0, 2.5]))
    with pytest.raises(errors.InexactError, match=r"row 2, column 'b' holds 2\.5: a float beside exact decimals"):
        linsep.open(written(tmp_path, table), label="y")
    whole = table.set_column(1, "b", pa.array([1.0, 2.0, 3.0]))
    assert linsep.decide(linsep.open(written(tmp_path, whole), label="y")).kind == "overlapping"


def test_files_of_decimals_share_the_power_of_ten_of_each_column(tmp_path):
    later = pa.table({"a": [7], "b": pa.array([D("0.125")]), "y": [0]})
    paths = [written(tmp_path, TENTHS_OF_ARROW), written(tmp_path, later, name="u")]
    source = linsep.open(paths, label="y")
    assert source.facts.scales == (10, 1000)
    assert source.take([2, 3]).values.tolist() == [[3, 3000], [70, 125]]


def test_rows_with_rejects_and_categories_keep_their_decimals(tmp_path):
    table = TENTHS_OF_ARROW.append_column("c", pa.array(["u", "v", None]))
    source = linsep.open(written(tmp_path, table), label="y", categories="all", reject=tmp_path / "bad.csv")
    assert source.take([0, 1]).values.tolist() == [[1, 1, 1, 0], [2, 2, 0, 1]]


def test_rows_to_be_labelled_are_not_rounded(tmp_path, capsys):
    path, model = str(written(tmp_path, TENTHS_OF_ARROW)), str(tmp_path / "m.json")
    assert main(["fit", path, "--label", "y", "-o", model]) == 2
    assert main(["fit", path, "--label", "y", "-o", model, "--numbers", "binary64", "--max-passes", "9"]) == 3
    assert main(["predict", model, path]) == 2
    assert "row 0, column 'a' holds Decimal('0.1')" in capsys.readouterr().err
    assert main(["predict", model, path, "--numbers", "binary64"]) == 0
    assert main(["predict", model, path, "--numbers", "decimal"]) == 2
    assert main(["learn", path, "--label", "y", "--numbers", "decimal"]) == 2


def test_convert_writes_doubles_of_decimals_only_where_that_is_said(tmp_path):
    path, out = written(tmp_path, TENTHS_OF_ARROW), str(tmp_path / "out.parquet")
    with pytest.raises(errors.ArgumentError, match='numbers="binary64"'):
        linsep.on_files.convert(path, out, label="y")
    assert linsep.on_files.convert(path, out, label="y", numbers="binary64").rows == 3
