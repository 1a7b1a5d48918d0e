"""No option writes over a file that its command reads, and no fate of stdout is taken for a verdict."""

import os
import re
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

import linsep
from linsep.cli import main

SOURCES = str(Path(linsep.__file__).parents[1])
ROWS = "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n"
DATA = ["data.csv", "--label", "y"]
COMMANDS = {
    "decide": ["decide", *DATA],
    "margin": ["margin", *DATA],
    "mle": ["mle", *DATA],
    "fit": ["fit", *DATA],
    "trace": ["trace", *DATA],
    "learn": ["learn", *DATA],
    "predict": ["predict", "model.json", "data.csv"],
    "verify": ["verify", "proof.json", "data.csv"],
    "convert": ["convert", *DATA],
    "plot": ["plot", *DATA],
    "animate": ["animate", *DATA],
    "explore": ["explore", *DATA],
}
OPTIONS = [
    *((name, "--reject") for name in COMMANDS),
    *((name, "--proof") for name in ("decide", "margin")),
    ("fit", "--checkpoint"),
    *((name, "-o") for name in ("fit", "learn", "predict", "plot", "animate")),
    ("explore", "--export"),
    ("convert", ""),
]
KINDS = ["same", "other spelling", "symlink", "link to a link", "hard link", "in a folder", "of a pattern"]
ENDINGS = {"plot": ".png", "animate": ".gif", "convert": ".parquet"}  # what the name of the output must end in


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Data, a model and a proof about them."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "data.csv").write_text(ROWS)
    assert main(["fit", str(folder / "data.csv"), "--label", "y", "-o", str(folder / "model.json")]) == 0
    assert main(["decide", str(folder / "data.csv"), "--label", "y", "--proof", str(folder / "proof.json")]) == 0
    return {name: (folder / name).read_bytes() for name in ("data.csv", "model.json", "proof.json")}


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A working folder of their own for each test."""
    monkeypatch.chdir(tmp_path)
    for name, content in made.items():
        Path(name).write_bytes(content)
    return tmp_path


def asked(command, option, output, data="data.csv"):
    """The command with its data read from there, and this option writing to that file."""
    words = [data if word == "data.csv" else word for word in COMMANDS[command]]
    if command in ("plot", "animate") and option != "-o":
        words += ["-o", "picture.svg"]
    if command == "explore" and option != "--export":
        words += ["--export", "page.html"]
    if command == "convert":
        return [
            words[0],
            words[1],
            "all.parquet" if option else output,
            *words[2:],
            *([option, output] if option else []),
        ]
    return [*words, option, output]


def another_name(kind, target, ending):
    """What an output is called, and what is read, so that both are the file `target`."""
    if kind == "same":
        return target, target
    if kind == "other spelling":
        Path("none").mkdir(exist_ok=True)
        return f"./none/../{target}", target
    if kind in ("in a folder", "of a pattern"):
        Path("folder").mkdir()
        Path("folder", Path(target).name).hardlink_to(target)
        return target, "folder" if kind == "in a folder" else "fol*/*"
    name = f"name{ending}"
    if kind == "hard link":
        Path(name).hardlink_to(target)
    else:
        if kind == "link to a link":
            Path("first").symlink_to(target)
        Path(name).symlink_to("first" if kind == "link to a link" else target)
    return name, target


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_that_writes_is_here(command, capsys):
    main([command, "--help"])
    offered = re.findall(
        r"^[^\w\n]*(--(?:reject|proof|checkpoint|output|export))\b", capsys.readouterr().out, re.MULTILINE
    )
    listed = {"--output" if option == "-o" else option for name, option in OPTIONS if name == command and option}
    assert set(offered) == listed


@pytest.mark.parametrize("command", COMMANDS)
def test_debug_is_listed_and_shows_the_traceback(command, here, capsys):
    main([command, "--help"])
    assert "--debug" in re.sub(r"Exit codes: .*", "", capsys.readouterr().out, flags=re.DOTALL)
    with pytest.raises(linsep.LinsepError):
        main([*asked(command, "--reject", "bad.csv", "none.csv"), "--debug"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_no_output_is_written_over_the_data(command, option, kind, here, capsys):
    ending = ENDINGS.get(command, ".csv") if option in ("-o", "") else ".csv"
    target = f"rows{ending}"
    Path("data.csv").rename(target)
    if kind == "in a folder" and ending in (".png", ".gif"):
        pytest.skip("no folder is read for its pictures")
    output, read = another_name(kind, target, ending)
    assert main([*asked(command, option, output, read), "--format", "csv"]) == 2
    assert "the command reads this file" in capsys.readouterr().err
    assert Path(target).read_text() == ROWS
    assert not list(here.glob("*.html")) + list(here.glob("*.svg")) + list(here.glob("all.parquet"))


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_no_output_is_written_where_the_next_run_would_read_it(command, option, here, capsys):
    Path("folder").mkdir()
    Path("data.csv").rename("folder/data.csv")
    output = f"folder/new{ENDINGS.get(command, '.csv') if option in ('-o', '') else '.csv'}"
    for read in ("folder", "folder/*", "**/*", "folder/**"):
        if read == "folder" and output.endswith((".png", ".gif")):
            continue  # no folder is read for its pictures
        assert main(asked(command, option, output, read)) == 2
        assert f"the command reads this file ({read})" in capsys.readouterr().err
    assert [path.name for path in Path("folder").iterdir()] == ["data.csv"]


def test_a_proof_may_lie_beside_the_data_of_a_folder(here):
    Path("folder").mkdir()
    Path("data.csv").rename("folder/data.csv")
    for _ in range(2):
        assert main(["decide", "folder", "--label", "y", "--proof", "folder/proof.json"]) == 0


@pytest.mark.parametrize("option", ["--reject", "-o"])
@pytest.mark.parametrize("kind", ["same", "other spelling", "symlink", "hard link"])
def test_no_output_is_written_over_the_model_or_the_proof(kind, option, here, capsys):
    for command, own in (("predict", "model.json"), *([("verify", "proof.json")] if option == "--reject" else [])):
        before = Path(own).read_bytes()
        output, _ = another_name(kind, own, f".{command}")
        assert main(asked(command, option, output)) == 2
        assert "the command reads this file" in capsys.readouterr().err
        assert Path(own).read_bytes() == before


PAIRS = [
    ("decide", "--proof", "--reject"),
    ("fit", "-o", "--checkpoint"),
    ("learn", "-o", "--reject"),
    ("predict", "-o", "--reject"),
    ("explore", "--export", "--reject"),
]


@pytest.mark.parametrize("names", [("new", "./new"), ("new", "NEW"), ("new", "link"), ("old", "hard")])
@pytest.mark.parametrize(("command", "one", "other"), PAIRS)
def test_two_outputs_are_two_files(command, one, other, names, here, capsys):
    Path("old").write_text("")
    Path("hard").hardlink_to("old")
    Path("link").symlink_to("new")
    words = asked(command, one, names[0])
    assert main([*words, other, names[1]]) == 2
    assert "goes into the same file" in capsys.readouterr().err
    assert not Path("new").exists()


def test_the_checkpoint_before_the_last_is_an_output_too(here, capsys):
    Path("data.csv").rename("run.previous")
    read = ["fit", "run.previous", "--label", "y", "--format", "csv"]
    assert main([*read, "--checkpoint", "run"]) == 2
    assert Path("run.previous").read_text() == ROWS
    assert main(["fit", "example:xor", "--checkpoint", "c", "-o", "c.previous"]) == 2


@pytest.mark.parametrize("command", ["decide", "learn"])
def test_standard_input_is_a_file_that_is_read(command, here, monkeypatch, capsys):
    with Path("data.csv").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        option = "--proof" if command == "decide" else "-o"
        assert main([command, "-", "--label", "y", option, "data.csv"]) == 2
    assert "(standard input)" in capsys.readouterr().err
    assert Path("data.csv").read_text() == ROWS


@pytest.mark.parametrize("what", ["folder", "none/new", "loop", "-"])
@pytest.mark.parametrize(("command", "option"), [pair for pair in OPTIONS if pair[0] not in ENDINGS])
def test_what_cannot_be_written_is_said_before_anything_is_read(command, option, what, here, capsys):
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    Path("data.csv").write_text("nothing that could be read")
    assert main(asked(command, option, what)) == 2
    assert re.search("cannot be written|is not a file to write to", capsys.readouterr().err)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), [pair for pair in OPTIONS if pair[1] != "--checkpoint"])
def test_every_output_goes_into_a_pipe_and_leaves_it_one(command, option, here, capsys):
    name = f"pipe{ENDINGS.get(command, '.txt') if option in ('-o', '') else '.txt'}"
    os.mkfifo(name)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(Path(name).read_bytes()))
    reader.start()
    code = main(asked(command, option, name))
    reader.join(timeout=60)
    assert (code, Path(name).is_fifo()) == (1 if command == "mle" else 0, True)
    assert seen[0] == b"file,row,reason,content\r\n" if option == "--reject" else len(seen[0]) > 20


# Rejected rows --------------------------------------------------------------------------------------------------------


def test_rejects_leave_the_other_name_of_their_file_alone(here):
    older = "file,row,reason,content\ndata.csv,7,of another day,x\n"
    Path("bad.csv").write_text(older)
    Path("archive.csv").hardlink_to("bad.csv")
    assert main(["decide", *DATA, "--reject", "bad.csv"]) == 0
    assert Path("archive.csv").read_text() == older
    assert Path("bad.csv").read_text().split() == ["file,row,reason,content"]


@pytest.mark.parametrize(
    "command",
    [["decide", "none.csv", "--label", "y"], ["decide", "data.csv", "--label", "z"],
     ["predict", "model.json", "none.csv"], ["learn", "--text", "none.csv"]],
)  # fmt: skip
def test_a_run_that_fails_at_once_keeps_the_rejects_of_the_last(command, here):
    Path("bad.csv").write_text("of the last run")
    assert main([*command, "--reject", "bad.csv"]) == 2
    assert Path("bad.csv").read_text() == "of the last run"


# learn ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("text", [False, True])
def test_a_bad_row_ends_the_stream_and_keeps_what_was_learned(text, here, monkeypatch, capsys):
    monkeypatch.setattr("linsep.sources.files.options.batch_bytes", lambda memory: 1)
    monkeypatch.setattr("linsep.on_files.text_lines.BLOCK", 8)
    Path("t.csv").write_text("ham\ta\nspam\tb\nham\tc\nno label\n" if text else "a,y\n1,no\n2,yes\n3,yes\nx,no\n")
    words = ["learn", "t.csv", "-o", "m.json", *(["--text"] if text else ["--label", "y"])]
    assert main(words) == 2
    rows = linsep.load("m.json").counts.rows
    assert rows >= 2
    assert f"The model of the {rows} rows before it is in m.json." in capsys.readouterr().err


def test_a_bad_row_before_two_classes_leaves_no_model(here):
    Path("t.csv").write_text("a,y\nx,no\n1,yes\n")
    assert main(["learn", "t.csv", "--label", "y", "-o", "m.json"]) == 2
    assert not Path("m.json").exists()


# The fate of stdout ---------------------------------------------------------------------------------------------------

SPOKEN = {
    **{name: words for name, words in COMMANDS.items() if name not in ("plot", "animate", "explore", "convert")},
    "plot": ["plot", *DATA, "-o", "p.svg"],
    "convert": ["convert", "data.csv", "c.parquet", "--label", "y"],
    "explore": ["explore", *DATA, "--export", "e.html", "--json"],
    "decide, proof": ["decide", *DATA, "--proof", "p.json"],
    "margin, proof": ["margin", *DATA, "--proof", "p.json"],
    "fit, model": ["fit", *DATA, "-o", "m.json"],
    "learn, model": ["learn", *DATA, "-o", "l.json"],
    "predict, file": ["predict", "model.json", "data.csv", "-o", "o.csv", "--json"],
    "explore, served": ["explore", "--no-browser"],
    "demo": ["demo"],
    "help": ["--help"],
    "help of a command": ["decide", "--help"],
    "version": ["--version"],
}
IN_JSON = ("decide", "margin", "mle", "fit", "trace", "learn", "predict", "verify", "plot", "convert", "decide, proof")
BUFFERED = ("JSON at once", "JSON at last")
FATES = {"its reader has left": 141, "closed": 2, "full": 2}


@pytest.fixture
def doomed(monkeypatch):
    """Give a standard stream a fate, buffered or not as Python has it."""
    with ExitStack() as stack:

        def give(name, fate, *, line_by_line):
            stream = None
            if fate != "closed":
                ends = os.pipe()
                os.dup2(os.open("/dev/full", os.O_WRONLY) if fate == "full" else ends[1], ends[1])
                os.close(ends[0])
                stream = stack.enter_context(open(ends[1], "w", buffering=1 if line_by_line else -1))  # noqa: PTH123
                stream.reconfigure(write_through=line_by_line)
            monkeypatch.setattr(sys, name, stream)

        yield give


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "name"), [*(("text", name) for name in SPOKEN), *((how, name) for name in IN_JSON for how in BUFFERED)]
)
@pytest.mark.parametrize("fate", FATES)
def test_what_becomes_of_stdout_is_no_verdict_and_the_files_are_written(fate, name, form, here, doomed):
    words = [*SPOKEN[name], *([] if form == "text" else ["--json"])]
    doomed("stdout", fate, line_by_line=form == "JSON at once")
    assert main(words) == FATES[fate]
    if sys.stdout is not None:
        sys.stdout.flush()  # as Python does when it ends: what is held back must not change the exit code
    assert all(Path(file).exists() for file in words[1:] if "." in file)


@pytest.mark.parametrize("fate", FATES)
def test_without_stderr_the_verdict_stands(fate, here, doomed, capsys):
    for words, code in ((COMMANDS["decide"], 0), (["decide", "example:xor"], 1), (["decide", "none.csv"], 2)):
        doomed("stderr", fate, line_by_line=True)
        assert main([*words, "--progress"]) == code
        assert main([*words, "--json"]) == code
    assert "linsep:" not in capsys.readouterr().out  # print(file=None) would put complaints there


def test_closed_stdout_is_told_of_on_stderr(here, doomed, capsys):
    doomed("stdout", "closed", line_by_line=True)
    assert main(COMMANDS["decide"]) == 2
    assert capsys.readouterr().err == "linsep: the result cannot be written to standard output: it is closed.\n"


def test_a_checkpoint_stays_until_the_answer_is_out(here, doomed):
    doomed("stdout", "full", line_by_line=False)
    assert main([*COMMANDS["fit"], "--json", "--max-passes", "1", "--checkpoint", "run"]) == 2
    assert Path("run").exists()


SHELL = {  # the whole process, as the shell sees it end
    "decide data.csv --label y --proof p1.json | true": 141,
    "decide data.csv --label y --json --proof p2.json > /dev/full": 2,
    "decide data.csv --label y --proof p3.json >&- 2>&- <&-": 2,
    "decide data.csv --label y --json --proof /dev/stdout >> data.csv": 2,
    "--help | true": 141,
}


@pytest.mark.slow
def test_the_shell_sees_no_verdict_where_stdout_came_to_grief(here):
    lines = [f'"$PY" -m linsep.cli {line}; echo ${{PIPESTATUS[0]}} >> codes' for line in SHELL]
    environment = {**os.environ, "PYTHONPATH": SOURCES, "PYTHONUNBUFFERED": "", "PY": sys.executable}
    subprocess.run(["bash", "-c", "\n".join(lines)], env=environment, capture_output=True, check=True, timeout=120)
    assert list(map(int, Path("codes").read_text().split())) == list(SHELL.values())
    assert all(Path(f"p{k}.json").read_text().startswith("{") for k in range(1, 4))
    assert Path("data.csv").read_text() == ROWS


@pytest.mark.parametrize(
    ("setting", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"FORCE_COLOR": ""}, False),
     ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True)],
)  # fmt: skip
@pytest.mark.parametrize("words", [COMMANDS["decide"], COMMANDS["fit"], ["--help"]])
def test_output_is_plain_off_a_terminal_unless_force_color(words, setting, coloured, here, monkeypatch, capsys):
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    assert main(words) == 0
    assert ("\x1b" in capsys.readouterr().out) == coloured


@pytest.mark.parametrize(
    ("command", "option"), [pair for pair in OPTIONS if pair[1] not in ("--reject", "--checkpoint")]
)
def test_a_file_that_holds_something_else_is_not_replaced(command, option, here, capsys):
    other = f"other{ENDINGS.get(command, '.csv') if option in ('-o', '') else '.csv'}"
    Path(other).write_text("height,kind\n1,a\n")
    assert main(asked(command, option, other)) == 2
    assert "holds something" in capsys.readouterr().err
    assert Path(other).read_text() == "height,kind\n1,a\n"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_what_an_option_wrote_it_replaces(command, option, here):
    output = f"out{ENDINGS.get(command, '.csv') if option in ('-o', '') else '.csv'}"
    assert {main(asked(command, option, output)) for _ in range(2)} <= {0, 1}


@pytest.mark.slow
def test_lists_and_pages_replace_their_own_kind(here):
    words = ["clean", *DATA, "-o", "rows.csv", "--html", "rows.html", "--proof", "p.json"]
    assert [main(words) for _ in range(2)] == [0, 0]
    assert main(["clean", *DATA, "--html", "rows.csv"]) == 2


def test_an_option_at_fault_is_not_blamed_on_the_file(here, monkeypatch, capsys):
    for name in ("LINSEP_THREADS", "LINSEP_CACHE_LIMIT"):
        monkeypatch.setenv(name, "abc")
        assert main(["decide", *DATA]) == 2
        assert capsys.readouterr().err.startswith(f"linsep: The environment variable {name}")
        monkeypatch.delenv(name)
    assert main(["decide", *DATA, "--memory", "much"]) == 2
    assert "data.csv" not in capsys.readouterr().err


def test_a_closed_standard_input_is_named(here):
    command = f"{sys.executable} -m linsep decide - --label y <&-"
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "standard input is closed. Send the rows to it" in done.stderr) == (2, True)


def test_predict_says_that_a_header_is_missing(here, capsys):
    Path("data.csv").write_text("1,2,3\n0,0,1\n")
    assert main(["predict", "model.json", "data.csv"]) == 2
    assert "a first line of numbers, so the file seems to have no header" in capsys.readouterr().err


def test_predict_does_not_advise_options_that_it_does_not_have(here, capsys):
    Path("data.csv").write_text("a,b\n0,red\n")
    assert main(["predict", "model.json", "data.csv"]) == 2
    assert "categories" not in capsys.readouterr().err


def test_a_byte_that_is_not_text_is_written_in_hexadecimal(here):
    Path("data.csv").write_bytes(ROWS.encode() + b"2,\xff,yes\n")
    assert main(["decide", *DATA, "--reject", "bad.csv"]) == 0
    assert Path("bad.csv").read_text().endswith('"2,\\xff,yes"\n')


LEAVING = """
import pathlib, weakref
from linsep import __main__ as entry
from linsep.sources.files import private
folder, of_others = private.TemporaryFolder(), []
other = weakref.finalize(folder, of_others.append, "freed")
entry._clean_up()
print(not pathlib.Path(folder.path).exists(), other.alive, of_others)
"""


def test_an_interrupted_process_frees_no_code_that_a_thread_may_run():  # in its own process, which it ends
    told = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, check=True)
    assert told.stdout == "True True []\n"
