"""The help of every command offers what can be asked for, and nothing that is always refused."""

import pytest

from linsep.cli import app, main

ROWS = "a,b,y\n" + "".join(f"{k / 8},{(k * 7) % 5},{int(k > 9)}\n" for k in range(20))
COMMANDS = {
    "decide": "decide rows.csv --label y",
    "verify": "verify proof.json rows.csv --label y",
    "margin": "margin rows.csv --label y",
    "mle": "mle rows.csv --label y",
    "mistakes": "mistakes rows.csv --label y",
    "clean": "clean rows.csv --label y",
    "report": "report rows.csv --label y",
    "fit": "fit rows.csv --label y",
    "trace": "trace rows.csv --label y --max-updates 5",
    "plot": "plot rows.csv --label y -o picture.svg",
    "animate": "animate rows.csv --label y -o run.svg --max-updates 5",
    "explore": "explore rows.csv --label y --export page.html",
    "convert": "convert rows.csv rows.parquet --label y",
}
OPTIONS = {
    "--numbers": "binary64",
    "--positive": "1",
    "--cache": "kept",
    "--columns": "a,b",
    "--reject": "bad.csv",
    "--memory": "64MB",
    "--format": "csv",
    "--index-base": "1",
}


def helped(capsys, command):
    main([command, "--help"])
    return capsys.readouterr().out


@pytest.fixture
def rows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_is_in_the_help_exactly_if_it_is_taken(command, option, rows, capsys):
    asked = [option, OPTIONS[option]]
    main(["decide", "rows.csv", "--label", "y", "--proof", "proof.json", *(asked if command == "verify" else [])])
    offered = f" {option} " in helped(capsys, command)
    assert (main([*COMMANDS[command].split(), option, OPTIONS[option]]) != 2) == offered


def test_the_perceptron_is_not_run_on_columns_times_powers_of_ten(rows, capsys):
    for command in ("fit", "trace"):
        assert main([*COMMANDS[command].split(), "--numbers", "decimal"]) == 2
        assert "--numbers" in capsys.readouterr().err


def test_every_command_that_reads_files_is_walked():
    named = {name for name in app if not name.startswith("-")}
    assert named - set(COMMANDS) <= {"cache", "demo", "learn", "predict"}
