"""Several files on the command line: what the shell makes of an unquoted pattern."""

import io
import json
import re
from pathlib import Path

import pyarrow.parquet
import pytest

from linsep.cli import main

PARTS = {"1.csv": "a,b,y\n0,0,no\n0,1,no\n", "2.csv": "a,b,y\n2,0,yes\n2,1,yes\n"}


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """The names of two files in the working folder."""
    for name, text in PARTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return list(PARTS)


@pytest.mark.parametrize("arguments", [["1.csv", "2.csv", "--label", "y"], ["1.csv", "--label", "y", "2.csv"]])
def test_many_files_are_one_table(arguments, parts, capsys):
    for command, code in (("decide", 0), ("margin", 0), ("fit", 0), ("trace", 0), ("mle", 1)):
        assert main([command, *arguments]) == code
    assert capsys.readouterr().out.count("4 rows, 2 columns") == 3


def test_a_proof_about_many_files_says_how_it_is_checked(parts, capsys):
    main(["decide", *parts, "--label", "y", "--proof", "p.json"])
    assert "linsep verify p.json 1.csv 2.csv --label y" in capsys.readouterr().err
    assert main(["verify", "p.json", *parts]) == 0
    assert "4 rows of 1.csv and 1 more" in capsys.readouterr().out
    assert main(["verify", "p.json", *reversed(parts)]) == 0
    assert main(["verify", "p.json", "1.csv"]) != 0


def test_the_last_name_is_where_a_conversion_goes(parts, capsys):
    assert main(["convert", *parts, "all.parquet", "--label", "y"]) == 0
    assert pyarrow.parquet.read_table("all.parquet").num_rows == 4
    assert main(["convert", "all.parquet", "--label", "y"]) == 2
    assert "give the files to read, then the file to write" in capsys.readouterr().err


def test_many_files_are_drawn_and_labelled_in_order(parts, capsys):
    assert main(["plot", *parts, "--label", "y", "-o", "p.svg"]) == 0
    main(["fit", *parts, "--label", "y", "-o", "m.json"])
    capsys.readouterr()
    assert main(["predict", "m.json", *parts]) == 0
    assert capsys.readouterr().out.split() == ["no", "no", "yes", "yes"]


@pytest.mark.parametrize("arguments", [["-", "2.csv", "--label", "y"], ["--label", "y", "2.csv", "-"]])
def test_a_dash_is_standard_input(arguments, parts, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PARTS["1.csv"].encode())))
    assert main(["decide", *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["rows"] == "4"


def test_a_checkpoint_is_none_of_the_files(parts, capsys):
    assert main(["fit", *parts, "--label", "y", "--checkpoint", "2.csv"]) == 2
    assert "--checkpoint 2.csv: the command reads this file" in capsys.readouterr().err


def test_an_example_stands_alone(parts, capsys):
    assert main(["decide", "1.csv", "example:xor"]) == 2
    assert capsys.readouterr().err == "linsep: example:xor: an example cannot be read together with other files.\n"


def test_rows_of_many_files_are_named_with_their_file(parts, capsys):
    Path("2.csv").write_text("a,b,y\n2,0,yes\n0,1,yes\n")
    assert main(["decide", *parts, "--label", "y"]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["row", "file", "line", "class", "share"] in lines
    assert ["1", "1.csv", "3", "no", "1.000"] in lines
    assert ["3", "2.csv", "3", "yes", "1.000"] in lines
    main(["mle", *parts, "--label", "y"])
    assert re.search(r"^ +\d   .*1\.csv +2$", capsys.readouterr().out, re.MULTILINE)


def test_a_dash_is_no_name_for_a_file_to_write(capsys):
    assert main(["decide", "example:xor", "--proof", "-"]) == 2
    assert "- is not a file to write to" in capsys.readouterr().err
