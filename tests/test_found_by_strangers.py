"""Faults that independent testers found, each by its smallest instance."""

import copy
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

import linsep
from linsep import checker, errors
from linsep.cli import app, main
from linsep.errors import ArgumentError, CertificateError, HeaderError
from linsep.sources.files import csv_reader
from linsep.storage.checksum import seal
from tests.campaigns import interrupts


@pytest.fixture
def proof(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("a,b,y\n0,0,0\n1,1,1\n2,3,1\n")
    (tmp_path / "p.json").write_text(linsep.decide(linsep.open("d.csv", label="y")).to_json())
    return tmp_path


def test_the_checker_refuses_a_pipe_which_it_cannot_read_twice(proof, capsys):
    os.mkfifo("pipe.csv")
    assert checker.main(["p.json", "pipe.csv"]) == 2
    assert "a pipe will not do" in capsys.readouterr().out


def test_the_checker_refuses_a_file_without_rows(proof, capsys):
    (proof / "none.csv").write_text("a,b,y\n")
    empty = json.loads((proof / "p.json").read_text())
    empty["data"]["rows"] = "0"
    del empty["sha256"]
    (proof / "p0.json").write_text(seal(json.dumps(empty)))
    assert checker.main(["p0.json", "none.csv", "--label", "y"]) == 2
    assert "no rows" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["/dev/full", None])
def test_an_answer_of_the_checker_that_cannot_be_written_is_not_an_answer(proof, out):
    command = [sys.executable, "-m", "linsep.checker", "p.json", "d.csv"]
    closing = " >&-" if out is None else f" > {out}"
    seen = subprocess.run(" ".join(command) + closing, shell=True, capture_output=True, text=True, check=False)
    assert seen.returncode == 2 and "Traceback" not in seen.stderr


def test_a_label_that_is_nearly_0_is_not_0(tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,1e-400\n2,1\n")
    assert linsep.decide(linsep.open(tmp_path / "d.csv", label="y")).labels == ("1", "1e-400")
    (tmp_path / "zero.csv").write_text("a,y\n1,0\n2,1\n")
    verdict = linsep.decide(linsep.open(tmp_path / "zero.csv", label="y"))
    with pytest.raises(CertificateError):
        verdict.verify(linsep.open(tmp_path / "d.csv", label="y"))


def test_a_pipe_in_the_place_of_a_cache_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("LINSEP_CACHE", str(tmp_path / "caches"))
    (tmp_path / "d.csv").write_text("a,y\n" + "".join(f"{k},{int(k > 300)}\n" for k in range(200_000)))
    first = linsep.decide(linsep.open(tmp_path / "d.csv", label="y", memory="1MiB"))
    caches = list((tmp_path / "caches").iterdir())
    for cache in caches:
        cache.unlink()
        os.mkfifo(cache)
    found = []
    worker = threading.Thread(
        target=lambda: found.append(linsep.decide(linsep.open(tmp_path / "d.csv", label="y", memory="1MiB"))),
        daemon=True,
    )
    worker.start()
    worker.join(60)
    assert found and found[0].weights == first.weights


def test_a_category_that_would_take_the_name_of_a_column_is_refused(tmp_path):
    (tmp_path / "d.csv").write_text("s,s[A],y\nA,0,0\nB,1,1\n")
    with pytest.raises(HeaderError, match="two columns would be called 's\\[A\\]'"):
        linsep.open(tmp_path / "d.csv", label="y", categories="all")


def test_the_json_of_the_checker_is_one_object(proof, capsys):
    assert checker.main(["p.json", "d.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "verified"
    assert main(["verify", "p.json", "d.csv"]) == 0


def shell(line, **options):
    sources = str(Path(linsep.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": sources, "PY": sys.executable}
    return subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("program", ["linsep verify", "linsep.checker"])
@pytest.mark.parametrize("into", ["2>> d.csv", ">> d.csv", ">> d.csv 2>&1", "--nonsense 2>> d.csv"])
def test_a_stream_that_goes_into_the_data_is_refused_and_nothing_is_written_there(proof, program, into):
    before = (proof / "d.csv").read_bytes()
    seen = shell(f'"$PY" -m {program} p.json d.csv {into}')
    assert seen.returncode == 2 and (proof / "d.csv").read_bytes() == before
    assert bool(seen.stdout + seen.stderr) == ("2>&1" not in into) and "Traceback" not in seen.stderr


def test_a_stream_that_goes_into_standard_input_is_refused(proof):
    before = (proof / "d.csv").read_bytes()
    assert shell('"$PY" -m linsep decide - --label y < d.csv 2>> d.csv').returncode == 2
    assert (proof / "d.csv").read_bytes() == before


def test_a_stream_that_goes_into_a_file_of_a_folder_is_refused(proof):
    before = (proof / "d.csv").read_bytes()
    assert shell('"$PY" -m linsep decide . --label y 2>> d.csv').returncode == 2
    assert (proof / "d.csv").read_bytes() == before


IMPORTING = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *rest):
        if name == "cyclopts":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["linsep", "--help"]
signal.signal(signal.SIGINT, signal.default_int_handler)
from linsep.__main__ import main
sys.exit(main())
"""


CALLED_BACK = """
import ctypes, os, signal, sys, time
import linsep.cli
signal.signal(signal.SIGINT, signal.default_int_handler)
@ctypes.CFUNCTYPE(None)
def called_back():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
def run():
    called_back()
    time.sleep(20)
    return 0
linsep.cli.main = run
from linsep.__main__ import main
sys.exit(main())
"""


SWALLOWED = """
import os, signal, sys
import linsep.cli
signal.signal(signal.SIGINT, signal.default_int_handler)
class Broken:
    def __del__(self):
        raise AttributeError
def app(*words, **options):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        Broken()
        raise RuntimeError("no compiled object yet")
linsep.cli.app = app
sys.argv = ["linsep"]
from linsep.__main__ import main
sys.exit(main())
"""


LOST = """
import os, signal, sys
import linsep
from linsep import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
def pressed(asked):
    def after(*words, **options):
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except BaseException:  # as the module initialisation of Cython does
            pass
        return asked(*words, **options)
    return after
linsep.{asked} = pressed(linsep.{asked})
sys.argv = ["linsep", "{command}", "d.csv", "--label", "y", "--proof", "lost.json"]
from linsep.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("command", "asked"), [("decide", "open"), ("decide", "decide"), ("margin", "max_margin"), ("margin", "novikoff")]
)
def test_a_command_ends_although_a_library_has_swallowed_ctrl_c(command, asked, proof):
    (proof / "program.py").write_text(LOST.format(command=command, asked=asked))
    seen = shell('"$PY" program.py')
    assert (seen.returncode, seen.stdout, seen.stderr) == (130, "", "linsep: interrupted.\n")
    assert not (proof / "lost.json").exists()


def test_pyarrow_does_not_take_over_ctrl_c_while_a_file_is_parsed(proof, monkeypatch):
    """In the main thread it does, and loses the one that is pressed as it ends."""
    threads, read = set(), csv_reader.arrow_csv.read_csv
    watched = lambda *given, **options: threads.add(threading.current_thread()) or read(*given, **options)  # noqa: E731
    monkeypatch.setattr(csv_reader.arrow_csv, "read_csv", watched)
    assert linsep.decide(linsep.open("d.csv", label="y", cache="none")).n_rows == 3
    assert threads and threading.main_thread() not in threads


WHILE_COMPILING = """
import os, signal
import numpy as np
from numba.core import event
from linsep.loops.compiler import njit
class Press(event.Listener):
    def on_start(self, _):
        event.unregister("numba:compile", self)
        for _ in range({times}):
            os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, _):
        pass
@njit(cache=True)
def loop(x):
    return x.sum()
event.register("numba:compile", Press())
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    loop(np.ones(3))
except KeyboardInterrupt:
    print(len(loop.signatures), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize(("times", "compiled"), [(1, 1), (2, 0)])
def test_ctrl_c_waits_for_the_loop_that_is_being_compiled_unless_pressed_twice(times, compiled, tmp_path):
    """LLVM crashed over what was taken apart half compiled: after 'linsep: interrupted.', a segmentation fault."""
    (tmp_path / "program.py").write_text(WHILE_COMPILING.format(times=times))
    seen = shell(f'LINSEP_QUIET=1 NUMBA_CACHE_DIR={tmp_path} "$PY" {tmp_path / "program.py"}')
    assert (seen.stdout, seen.stderr) == (f"{compiled} True\n", "")


@pytest.mark.parametrize(
    ("program", "told"),
    [(IMPORTING, ""), (CALLED_BACK, ""), (SWALLOWED, "linsep: interrupted.\n")],
    ids=[
        "while linsep is imported",
        "in a function that a library calls back",
        "of which a library makes another error",
    ],
)
def test_ctrl_c_is_ctrl_c_wherever_it_comes(program, told, tmp_path):
    (tmp_path / "program.py").write_text(program)
    seen = shell(f'"$PY" {tmp_path / "program.py"}')
    assert (seen.returncode, seen.stdout, seen.stderr) == (130, "", told)


@pytest.mark.campaign
@pytest.mark.timeout(400)
def test_ctrl_c_at_random_moments_leaves_nothing_half_done():
    """The long run is `make interrupts`."""
    assert interrupts.main(2, seed=3) == 0


MESSAGES = {
    "verify - d.csv": "'-' is not a proof: give the name of its file.",
    "predict - d.csv": "'-' is not a model: give the name of its file.",
    "decide - -": "standard input can be read only once",
    "decide d.csv --label y --proof=": "--proof is empty: give the name of a file.",
}


@pytest.mark.parametrize("line", MESSAGES)
def test_a_name_that_is_not_one_is_refused_in_plain_words(line, proof, capsys):
    assert main(line.split()) == 2
    assert MESSAGES[line] in capsys.readouterr().err


def test_an_empty_name_does_not_stand_for_the_current_folder(proof, capsys):
    assert main(["decide", "", "--label", "y"]) == 2
    assert "is empty" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("files", ["- d.csv", "d.csv -", "<(printf 'a,b,y\\n1,x,0\\n') --format csv"])
def test_an_error_in_rows_from_a_pipe_does_not_show_a_temporary_file(files, proof):
    seen = shell(f"""printf 'a,b,y\\n1,x,0\\n' | "$PY" -m linsep decide {files} --label y""", timeout=60)
    assert seen.returncode == 2 and "'x'" in seen.stderr and "linsep-rows" not in seen.stderr


@pytest.mark.parametrize(("words", "said"), [
    (["nope.json", "d.csv"], "BAD INPUT: 'nope.json' cannot be read: No such file or directory\n"),
    (["p.json", "nope.csv"], "BAD INPUT: there is no file 'nope.csv'\n"),
    (["d.csv", "d.csv"], "BAD INPUT: the proof or the data cannot be read: "),
])  # fmt: skip
def test_the_checker_says_in_words_what_it_cannot_read(words, said, proof, capsys):
    assert checker.main(words) == 2
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize("command", [name for name in app if not name.startswith("-")])
def test_every_command_lists_debug(command, capsys):
    assert main([command, "--help"]) == 0
    assert "--debug" in capsys.readouterr().out


LONG_NAME = "a" * 300


@pytest.mark.parametrize(
    "line", [f"decide {LONG_NAME}.csv", f"verify {LONG_NAME} {LONG_NAME}", "decide " + "a/" * 3000]
)
def test_a_name_that_no_file_can_have_is_bad_input(line, capsys):
    assert main(line.split()) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_option_may_be_longer_than_a_file_name(tmp_path):
    names = ",".join(f"col{j}" for j in range(80))
    (tmp_path / "w.csv").write_text(f"{names},y\n{'0,' * 80}0\n{'1,' * 80}1\n")
    assert main(["decide", str(tmp_path / "w.csv"), "--label", "y", "--columns", names]) == 0


@pytest.mark.parametrize(
    "asked",
    [{"path": []}, {"path": 5}, {"path": b"d.csv"}, {"memory": 1e9}, {"memory": True}, {"label": 1.5}, {"label": True}],
    ids=str,
)
def test_open_names_the_argument_that_is_wrong(asked):
    with pytest.raises(errors.ArgumentError, match=f"{next(iter(asked))} is "):
        linsep.open(**{"path": "d.csv", "label": "y", **asked})


@pytest.mark.parametrize("labels", [("text:1", "text:1.0"), ("text:1", "text: 1"), ("integer:0", "text:1")])
def test_the_checker_does_not_let_a_proof_choose_how_labels_are_read(labels, tmp_path):
    first, second = (label.split(":")[1] for label in labels)
    (tmp_path / "d.csv").write_text(f"x,y\n0,{first}\n1,{second}\n")
    true = linsep.decide([[0], [1]], ["a", "b"]).to_json()
    text = true.replace("text:a", labels[0]).replace("text:b", labels[1])
    body = text[: text.index('"sha256"')]
    (tmp_path / "p.json").write_text(f'{body}"sha256": "{hashlib.sha256(body.encode()).hexdigest()}"\n}}\n')
    assert checker.main([str(tmp_path / "p.json"), str(tmp_path / "d.csv"), "--label", "y"]) == 2


def test_a_label_beyond_every_double_is_refused_by_its_row():
    with pytest.raises(errors.InexactError, match="Row 0: the label is"):
        linsep.decide([[2], [1]], [Decimal("1e999999999"), 1])


def test_the_bound_does_not_mind_that_numpy_raises_on_underflow():
    X = np.random.default_rng(0).normal(size=(3000, 3)) * 1e-310
    with np.errstate(all="raise"):
        assert linsep.novikoff(X, X[:, 0] > 0).bound[0] > 0


# Tables ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", ["", "NA"])
def test_a_column_of_booleans_may_begin_with_a_gap(tmp_path, gap):
    path = tmp_path / "rows.csv"
    path.write_text(f"flag,x,y\n{gap},1,a\ntrue,2,b\nfalse,3,a\ntrue,1,b\n")
    source = linsep.open(path, label="y", reject=tmp_path / "bad.csv")
    assert (source.facts.rows_left_out, linsep.decide(source).kind) == (1, "separable")


WEIGHED = "x,w,site,died\n1,{0},A,0\n2,1,B,1\n3,2,{1},1\n4,0,C,0\n2,1,{1},0\n1,1,B,0\n1,2,B,1\n5,1,D,0\n"


@pytest.mark.parametrize(("first", "site"), [(1, "A"), (0, "B"), (0, "A")])
def test_levels_of_rows_of_weight_0_alone_have_no_coefficient_in_files_either(tmp_path, first, site):
    path = tmp_path / "rows.csv"
    path.write_text(WEIGHED.format(first, site))
    frame = pd.read_csv(path)
    known = linsep.mle_exists(frame, "died", weights="w")
    found = linsep.mle_exists(linsep.open(path, label="died", categories="reference"), weights="w")
    assert found.coefficients == known.coefficients and "site[C]" not in found.coefficients
    assert found.firth().coefficients == pytest.approx(known.firth().coefficients)
    found.verify(linsep.open(path, label="died", categories="reference"), weights="w")


def test_a_column_of_weights_need_not_be_among_the_columns(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text(WEIGHED.format(1, "A"))
    assert main(["mle", str(path), "--label", "died", "--weights", "w", "--columns", "x", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["coefficients"]) == ["(Intercept)", "x"]


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda X: linsep.mle_exists("Surv(x, died) ~ w", X, family="poisson"), "is the outcome of a Cox model"),
        (lambda X: linsep.decide(X, "died", ids="died"), "ids and y are both 'died'"),
        (lambda X: linsep.decide(X.set_axis([0, 1, 2], axis=1), 2), "Say y='2'."),
    ],
)
def test_what_is_named_wrongly_is_told_with_what_to_say(ask, told):
    with pytest.raises(ArgumentError) as caught:
        ask(pd.DataFrame({"x": [1, 2, 3], "w": [1, 0, 1], "died": [0, 1, 1]}))
    assert told in str(caught.value)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("keep", ["last", "average", "best", "vote"])
def test_a_copy_of_a_model_learns_on_as_the_model_does(keep, copied):
    """The loops' view of the weights was copied beside them, and the loops went on learning into the copy."""
    X, y = np.array([[1.0, 2], [2, 1], [-1, 1], [0, -1], [1, -2], [3, 1]]), np.array([0, 1, 0, 1, 0, 1])
    models = [linsep.PerceptronClassifier(keep, order="cyclic", random_state=0) for _ in range(2)]
    models[0].partial_fit(X, y, classes=[0, 1])
    models[1] = copied(models[0])
    assert np.array_equal(*[model.partial_fit(X, y).decision_function(X) for model in models])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_so_does_a_copy_of_an_online_perceptron(copied):
    X, y = np.array([[1.0, 2], [2, 1], [-1, 1], [0, -1], [1, -2], [3, 1]]), np.array([0, 1, 0, 1, 0, 1])
    model = linsep.OnlinePerceptron([0, 1], keep="last")
    model.predict_then_learn(X, y)
    models = [model, copied(model)]
    for each in models:
        each.predict_then_learn(X, y)
    assert np.array_equal(*[each.decision_function(X) for each in models])


LETTERS = list("abcde")
NAMED_ROWS = pd.DataFrame({"x": [0, 1, 2, 3, 4], "y": [0, 1, 0, 1, 1]}, index=LETTERS)
BESIDE = pd.Series([1, 0, 1, 1, 1], index=LETTERS)
each_beside = pytest.mark.parametrize(
    ("name", "family"),
    [(name, "binomial") for name in ("weights", "offset", "trials")] + [("strata", "conditional"), ("time", "cox")],
)


@each_beside
@pytest.mark.parametrize("is_formula", [False, True])
@pytest.mark.parametrize("missing", [None, "drop"])
def test_values_beside_the_rows_have_their_index(name, family, is_formula, missing):
    rows = ("y ~ x", NAMED_ROWS) if is_formula else (NAMED_ROWS, "y")
    told = (
        f"Row 0: X calls the row 'a', and {name} calls it 'e': their indices differ. Put them in one order with {name}"
    )
    with pytest.raises(errors.LengthError, match=told):
        linsep.mle_exists(*rows, family=family, missing=missing, **{name: BESIDE[::-1]})


def test_weights_have_the_index_of_y_where_x_has_none():
    with pytest.raises(errors.LengthError, match=r"y calls the row 'a', and weights .* weights.loc\[y.index\]"):
        linsep.mle_exists(NAMED_ROWS[["x"]].to_numpy(), NAMED_ROWS["y"], weights=BESIDE[::-1])
    assert not linsep.mle_exists(NAMED_ROWS, "y", weights=BESIDE).exists


@pytest.mark.parametrize("ask", [linsep.fewest_mistakes, linsep.clean])
def test_costs_have_the_index_of_the_rows(ask):
    with pytest.raises(errors.LengthError, match="X calls the row 'a', and cost calls it 'e'"):
        ask(NAMED_ROWS, "y", cost=BESIDE[::-1])


@pytest.mark.parametrize(
    "learn",
    [
        linsep.PerceptronClassifier().fit,
        partial(linsep.PerceptronClassifier().partial_fit, classes=[0, 1]),
        linsep.MaxMarginClassifier().fit,
        linsep.FewestMistakesClassifier().fit,
        linsep.RegionsClassifier().fit,
        linsep.KernelPerceptronClassifier().fit,
        linsep.OnlinePerceptron().predict_then_learn,
        lambda X, y: linsep.PerceptronClassifier().fit([[0], [1]], [0, 1]).score(X, y),
        linsep.Halfspace([1.0], 0.0, (0, 1)).mistakes,
        linsep.Halfspace([1.0], 0.0, (0, 1)).margin,
        linsep.Halfspace([1.0], 0.0, (0, 1)).error,
    ],
)
def test_nothing_is_learned_from_the_labels_of_other_rows(learn):
    with pytest.raises(errors.LengthError, match="X calls the row 'a', and y calls it 'e'"):
        learn(NAMED_ROWS[["x"]], NAMED_ROWS["y"][::-1])


# Rows of files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"missing": "drop"}, {"reject": "bad.csv"}], ids=str)
@pytest.mark.parametrize("name", ["n.csv", "n.parquet", "n.feather"])
def test_where_counts_the_rows_that_were_left_out(how, name, proof):
    frame = pd.DataFrame({"x": [None, 1, 9, None, 2, 3, 4], "y": ["no"] * 3 + ["yes"] * 4})
    with_ending = {"csv": partial(frame.to_csv, index=False), "parquet": frame.to_parquet, "feather": frame.to_feather}
    with_ending[name.partition(".")[2]](name)
    with_ending[name.partition(".")[2]](f"m{name}")
    for _ in range(2):  # the second time, from a cache if there is one
        source = linsep.open([f"m{name}", name], label="y", cache="cache", **how)
        assert [source.where(row) for row in range(10)] == [(n, k) for n in (f"m{name}", name) for k in (1, 2, 4, 5, 6)]


def test_where_counts_the_rows_that_a_cluster_dropped(proof):
    pd.DataFrame({"x": [None, 1, 9, None, 2], "y": [0, 0, 0, 1, 1]}).to_parquet("n.parquet", row_group_size=2)
    source = linsep.open(["n.parquet", "n.parquet"], label="y", missing="drop", scheduler="synchronous")
    assert [source.where(row)[1] for row in range(6)] == [1, 2, 4, 1, 2, 4]


def suspects(*words):
    assert main(["clean", *words, "--label", "y", "-o", "suspects.csv"]) in (0, 3)
    return pd.read_csv("suspects.csv").set_index("row")


def test_suspects_in_a_csv_file_can_be_found_in_the_data(proof):
    rows = "1,no\n9,no\n2,yes\n3,yes\n4,yes\n"
    for name, first in (("s.csv", "oops,no\n"), ("t.csv", "")):
        (proof / name).write_text(f"x,y\n{first}{rows}")
    found = suspects("s.csv", "--reject", "bad.csv")
    assert "file" not in found and found.loc[0, ["file_number", "line"]].tolist() == [1, 3]
    found = suspects("s.csv", "t.csv", "--reject", "bad2.csv")
    assert found.loc[[0, 5], "file":"line"].to_numpy().tolist() == [["s.csv", 1, 3], ["t.csv", 0, 2]]
    assert list(suspects("t.csv").columns[:3]) == ["rank", "line", "id"]


def test_suspects_of_a_source_are_written_with_their_numbers_in_the_file(proof):
    (proof / "s.csv").write_text("x,y\noops,no\n1,no\n9,no\n2,yes\n3,yes\n4,yes\n")
    linsep.clean(linsep.open("s.csv", label="y", reject="bad.csv")).to_csv("suspects.csv")
    found = pd.read_csv("suspects.csv")
    assert (found["file_number"] == found["row"] + 1).all()


@pytest.mark.parametrize(
    "values", [[1, 2, 10], [-1.5, -2.5, 10.0], [Decimal("1.5"), Decimal("10.5"), Decimal("9.5")]], ids=str
)
def test_dictionaries_of_numbers_are_categories_in_files_too(values, proof):
    table = pa.table({"g": pa.array(values).dictionary_encode(), "y": [0, 1, 0]})
    feather.write_feather(table, "g.feather")
    for categories in ("reference", "all", {"g": "all"}):
        known = linsep.decide(table, "y", categories=categories)
        found = linsep.decide(linsep.open("g.feather", label="y", categories=categories))
        assert (found.kind, found.names) == (known.kind, known.names) and found.kind == "separable"
    for ask in (lambda: linsep.open("g.feather", label="y"), lambda: linsep.decide(table, "y")):
        with pytest.raises(errors.ColumnTypeError, match=r"olumn 'g' holds categories.* Convert it to numbers, leave"):
            ask()


def test_a_gap_in_a_dictionary_of_numbers_is_missing(proof):
    listed = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 0]), pa.array([1.5, float("nan")]))
    feather.write_feather(pa.table({"g": listed, "y": [0, 1, 0, 1]}), "g.feather")
    with pytest.raises(errors.MissingValueError, match="row 1, column 'g': the value is missing"):
        linsep.open("g.feather", label="y", categories="reference")
    assert linsep.open("g.feather", label="y", categories="all", missing="drop").facts.rows_left_out == 1


EXTRAS = "starlette uvicorn anywidget traitlets matplotlib onnx formulaic torch dask distributed fsspec pandas polars"


def test_everything_can_be_imported_without_an_extra():
    program = f"""
import sys
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in "{EXTRAS}".split(): raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing)
from linsep import *
try: explore()
except errors.LinsepError as error: print(error)
"""
    seen = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (seen.stdout, seen.stderr) == (
        "The explorer's pages need anywidget, which is not installed. Install it: pip install 'linsep[explore]'\n",
        "",
    )


SIGNALS = [Decimal("0.1"), Decimal("0.2"), Decimal("0.3"), Decimal("sNaN")]


@pytest.mark.parametrize("X", [pd.DataFrame({"a": SIGNALS}), [pd.Series([cell]) for cell in SIGNALS]], ids=type)
def test_a_signalling_nan_is_refused_as_one_in_a_list_of_rows_is(X):
    with pytest.raises(errors.NotFiniteError, match=r"Row 3, column .* holds NaN: not a finite number. Drop the row"):
        linsep.decide(X, [0, 1, 0, 1])


def test_a_signalling_nan_is_a_gap():
    X = pd.DataFrame({"a": SIGNALS})
    assert linsep.decide(X, [0, 1, 0, 1], missing="drop").rows_left_out == 1
    with pytest.raises(errors.MissingLabelError, match="Row 3: the label is missing"):
        linsep.decide([[1], [2], [3], [4]], pd.Series(SIGNALS))


ODD = float("nan")


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        (
            {"offset": [1, ODD, 1, 1]},
            "Row 1: the value of offset is NaN. Fill it in, or leave out such rows: missing='drop'",
        ),
        ({"weights": pd.Series([1, 1, None, 1])}, "Row 2: the value of weights is missing. Fill it in, or leave out"),
        ({"family": "cox", "time": [1, float("inf"), 1, 1]}, "Row 1: the value of time is inf. Give a finite number."),
        ({"family": "conditional", "strata": ["a", "a", None, "b"]}, "Row 2: the value of strata is missing."),
        ({"trials": [1, 1, 1]}, "X has 4 rows, but trials has 3 values. Give one value for each row."),
        ({"weights": [1, object, 1, 1]}, "Row 1: the value of weights is <class 'object'>. Give numbers, booleans or"),
        ({"weights": 3}, "weights is 3. Give numbers, booleans or text, one for each row."),
        ({"weights": [1, 1, -1, 1]}, "Row 2: weights is -1: give a finite number, 0 or more."),
    ],
)
@pytest.mark.parametrize("is_formula", [False, True])
def test_what_is_wrong_with_a_value_beside_the_rows_is_told_by_its_name(beside, told, is_formula):
    table = pd.DataFrame({"x": [1, 2, 3, 4], "y": [0, 1, 0, 1]})
    with pytest.raises(errors.InputError) as caught:
        linsep.mle_exists(*(("y ~ x", table) if is_formula else (table, "y")), **beside)
    assert str(caught.value).startswith(told)


def test_a_label_of_a_row_that_does_not_count_is_told_by_its_own_row():
    with pytest.raises(errors.MissingLabelError, match="Row 0: the label is missing"):
        linsep.mle_exists(pd.DataFrame({"x": [1, 2, 3, 4]}), [None, 1, 0, 1], weights=[0, 1, 1, 1])


def test_rows_are_numbered_as_the_user_knows_them_where_some_were_dropped():
    table = pd.DataFrame({"x": [None, 1, 2, 3, 4], "y": [0, 0, 1, 0, 1]})
    for rows in ((table, "y"), ("y ~ x", table)):
        with pytest.raises(ArgumentError, match="Row 3: weights is -1"):
            linsep.mle_exists(*rows, weights=[1, 1, 1, -1, 1], missing="drop")


WITH_GAPS = pd.DataFrame(
    {"x": [1, 2, 3, 4, None, 5, 6], "y": [0, 1, 0, 1, 1, 0, 1], "w": [1, 2, None, 1, 1, 1, 1], "g": list("aabbabb")}
)


@pytest.mark.parametrize("kind", [pd.Series, list, np.array, pl.Series])
@pytest.mark.parametrize("is_formula", [False, True])
@each_beside
def test_rows_without_a_value_beside_them_are_dropped_too(kind, is_formula, name, family):
    table = WITH_GAPS[["x", "y"]]
    rows = ("y ~ x", table) if is_formula else (table, "y")
    found = linsep.mle_exists(*rows, family=family, missing="drop", **{name: kind(WITH_GAPS["w"])})
    known = linsep.mle_exists(WITH_GAPS[["x", "y", "w"]], "y", family=family, missing="drop", **{name: "w"})
    assert (found.coefficients, found.separated_rows) == (known.coefficients, known.separated_rows)
    assert found.verdict.rows_left_out == known.verdict.rows_left_out == 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda X: linsep.mle_exists(X, "y", weights=[1] * 5, missing="drop"),
        lambda X: linsep.mle_exists("y ~ x", X, weights=[1] * 5, missing="drop"),
        lambda X: linsep.fewest_mistakes(X, "y", cost=[1] * 5, missing="drop"),
    ],
)
def test_values_of_the_rows_that_are_left_are_not_those_of_all_rows(ask):
    with pytest.raises(errors.LengthError, match=r"X has 6 rows, but (weights|cost) has 5 values"):
        ask(WITH_GAPS.loc[[0, 1, 3, 4, 5, 6], ["x", "y"]])


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("1,0,3", "3 values, but the header names 2 columns. Put quotes around text that contains a comma."),
        ("1", "1 values, but the header names 2 columns. Write the values that are missing, and quotes around text"),
    ],
)
def test_a_row_that_is_too_short_gets_other_advice_than_one_that_is_too_long(row, told, proof):
    (proof / "r.csv").write_text(f"x,y\n1,0\n{row}\n")
    with pytest.raises(errors.RaggedRowError) as caught:
        linsep.open("r.csv", label="y")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        (
            "maybe=2 no=1",
            "cost names 'maybe', which is not a label. Give a number for each of the two labels, 'no' and 'yes'.",
        ),
        ("no=1", "cost has no number for the label 'yes'. Give a number for each of the two labels"),
    ],
)
def test_a_cost_of_what_is_no_label_is_told(costs, told, proof, capsys):
    (proof / "c.csv").write_text("x,y\n1,no\n2,yes\n3,no\n")
    assert main(["mistakes", "c.csv", "--label", "y", *(f"--cost={one}" for one in costs.split())]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_label_has_one_cost():
    with pytest.raises(ArgumentError, match="cost has two numbers for the label 1"):
        linsep.fewest_mistakes([[1], [2]], [0, 1], cost={"1": 2, "1.0": 3, 0: 1})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "a.svm",
            "1 2:1\n0 2:1e400\n",
            "column 1 (both counted from 0) holds '1e400': beyond the largest double, so not a",
        ),
        (
            "a.vw",
            "1 | x:1\n0 | x:1e400\n",
            "column 'x' holds '1e400': beyond the largest double, so not a finite number",
        ),
        ("a.svm", "1 2:1\n0 2:inf\n", "holds inf: not a finite number. Drop"),
        (
            "a.vw",
            "1 | x:1\n0 | x:0.1 x:0.2\n",
            "column 'x' holds '0.1 + 0.2': the values of a repeated feature are added up, and",
        ),
        (
            "a.vw",
            "1 | x:1\n0 | x:1e308 x:1e308\n",
            "column 'x' holds '1e308 + 1e308': the values of a repeated feature",
        ),
    ],
)
def test_numbers_of_sparse_text_are_quoted_as_they_are_written(name, text, told, proof):
    (proof / name).write_text(text)
    with pytest.raises(errors.InputError) as caught:
        linsep.open(name)
    assert told in str(caught.value)


def test_integers_beside_a_null_stay_integers():
    big = [2**53 + 1, 2**53, None]
    for y in (pa.array(big), pd.Index(big, dtype="Int64")):
        assert linsep.decide([[1], [2], [3]], y, missing="drop").labels == (2**53, 2**53 + 1)
    assert linsep.decide([[1], [1], [2]], [0, 1, 1], ids=pa.array(big)).obstruction.ids == tuple(big[:2])
    assert linsep.decide([[1], [1], [2]], [0, 1, 1], ids=pd.array(big, dtype="Int64")).obstruction.ids == tuple(big[:2])


@pytest.mark.parametrize("made", [partial(pd.Series, dtype=object), pd.arrays.SparseArray])
def test_named_columns_of_objects_and_sparse_ones_are_coded(made):
    for values, names in ([True, False, True], ("c[False]", "c[True]")), ([9, 10, 9], ("c[9]", "c[10]")):
        table = pd.DataFrame({"c": made(values)})
        assert linsep.decide(table, [0, 1, 0], categories={"c": "all"}).names == names
    gap = pd.DataFrame({"c": pd.Series([True, False, None], dtype=object)})
    assert linsep.decide(gap, [0, 1, 0], categories={"c": "all"}, missing="drop").n_rows == 2


@pytest.mark.parametrize("value", [pd.Period("2020-01"), pd.Interval(0, 1), b"a", 1j])
def test_what_categories_do_not_code_is_not_advised_to_be_coded(value):
    with pytest.raises(
        errors.NotNumericError, match=r"not a number\. Convert it to numbers, or leave the column out\."
    ):
        linsep.decide(pd.DataFrame({"c": pd.Series([value, value], dtype=object)}), [0, 1], categories="all")


def test_strata_of_a_file_may_be_text(tmp_path):
    table = pd.DataFrame({"x": [1, 0, 1, 1], "site": list("abab"), "pair": list("ppqq"), "case": [1, 0, 1, 0]})
    table.to_csv(tmp_path / "a.csv", index=False)
    known = linsep.mle_exists(table, "case", family="conditional", strata="pair")
    for coding in ("reference", "all"):
        read = linsep.open(tmp_path / "a.csv", label="case", categories={"pair": coding, "site": "reference"})
        report = linsep.mle_exists(read, family="conditional", strata="pair")
        report.verify(read, strata="pair")
        assert (report.coefficients, report.separated_rows) == (known.coefficients, known.separated_rows)
    with pytest.raises(ArgumentError, match="weights='pair': the column holds text"):
        linsep.mle_exists(read, weights="pair")


def test_rows_that_do_not_count_are_no_rows_of_the_sentences():
    X, y = [[0], [1], [1], [2], [-5], [9]], [[0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 0]]
    told = linsep.mle_exists(X, y, weights=[1, 1, 1, 1, 0, 1]).explain()
    assert "2 rows of weight 0 or without trials do not count.\n" in told
    assert "has 2 of the 4 rows that count strictly on the right side, and the others lie on it" in told
    told = linsep.mle_exists([[0], [1], [-5]], [0, 1, 1], weights=[1, 1, 0]).explain()
    assert "1 row of weight 0 does not count.\n" in told
    assert "has all 2 rows that count strictly on the right side, so" in told


def test_a_weight_beyond_the_doubles_is_refused():
    with pytest.raises(ArgumentError, match="weights holds an integer beyond the largest double"):
        linsep.mle_exists([[1], [2]], [0, 1], weights=[10**400, 1])


@pytest.mark.parametrize("made", [np.array, pd.Series, pl.Series, pa.array])
def test_a_column_of_texts_is_rows_of_text(made):
    model = linsep.OnlinePerceptron(["ham", "spam"], bits=8)
    assert model.predict_then_learn(made(["win now", "see you"]), ["spam", "ham"]) == ["ham", "spam"]
    assert model.predict(made(["win"])) == ["spam"]


def test_a_classifier_takes_a_lazy_frame():
    lazy = pl.DataFrame({"a": [1, 2, 3, 4]}).lazy()
    model = linsep.PerceptronClassifier("last").fit(lazy, [0, 0, 1, 1])
    assert model.feature_names_in_.tolist() == ["a"]
    assert model.predict(lazy).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("made", [pl.Series, pa.array, lambda values: pa.chunked_array([values])])
def test_costs_may_be_a_column_of_any_library(made):
    X, y = [[1], [1], [1]], [0, 1, 1]
    assert linsep.fewest_mistakes(X, y, cost=made([3, 1, 1])).mistaken_ids == (1, 2)
    assert linsep.fewest_mistakes(X, y, cost=made([1, 3, None]), missing="drop").mistaken_ids == (0,)


def test_text_that_names_rows_and_a_column_without_values_are_named():
    named = pd.DataFrame({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(errors.NotNumericError, match="Names of rows go in ids= "):
        linsep.fewest_mistakes(named, [0, 1, 0])
    empty = pd.DataFrame({"x": [1.0, 2.0], "z": [np.nan] * 2})
    with pytest.raises(errors.NoRowsError, match="missing value, and column 'z' has no value at all"):
        linsep.decide(empty, [0, 1], missing="drop")


@pytest.mark.parametrize("ask", [linsep.fewest_mistakes, linsep.separate_regions])
def test_row_numbers_that_count_dropped_rows_say_so(ask):
    X, y = [[1.0], [float("nan")], [2.0], [3.0], [4.0]], [0, 0, 1, 0, 1]
    assert "1 row left out, not part of the proof. The row numbers count them." in ask(X, y, missing="drop").explain()
