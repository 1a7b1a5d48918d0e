"""Films of a run: GIF, SVG that moves, MP4 where ffmpeg is."""

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import linsep
from linsep.cli import main
from linsep.errors import ArgumentError, LinsepError, ShapeError
from linsep.plots import animation
from linsep.plots.film import Film
from linsep.sources.inputs import as_source

SVG = "{http://www.w3.org/2000/svg}"


def film_of(name, **options):
    X, y = getattr(linsep.datasets, name)()
    given = {"bias": True, "order": "cyclic", "most": 30, "random_state": 0, **options}
    return Film.of(as_source(X, y), **given)


def test_the_frames_are_the_run_of_the_lecture():
    frames = film_of("cornwell").frames
    assert [(*frame.w.tolist(), frame.b) for frame in frames[:4]] == [
        (0, 0, 0),
        (1, -3, -1),
        (2, -2, -2),
        (2, -0.5, -1),
    ]
    assert frames[-1].text == "Update 9: row 3 of class 1 had score -3. Now 4·x1 - 0.5·x2 + 1 = 0."


def test_the_curves_keep_between_floor_and_ceiling():
    film = film_of("cornwell")
    for k, frame in enumerate(film.frames):
        assert film.theory.gamma[0] * k <= frame.along * (1 + 1e-12) and frame.length <= film.theory.radius[1] * k**0.5


@pytest.mark.parametrize("name", ["cornwell", "wang", "xor"])
def test_the_line_parts_the_box_and_its_ends_lie_on_it(name):
    film = film_of(name, most=9)
    for frame in film.frames:
        for x, y in film.border(frame).tolist():
            assert abs(frame.w @ (x, y) + frame.b) < 1e-9 * (1 + np.abs(frame.w).sum())


def test_svg_steps_through_every_frame_without_a_script(tmp_path):
    title = linsep.plots.animate(*linsep.datasets.cornwell(), path=tmp_path / "run.svg")
    root = ET.parse(tmp_path / "run.svg").getroot()
    assert title == root.find(f"{SVG}title").text == "9 updates of at most 55, then separated"
    moves = [one for one in root.iter(f"{SVG}animate") if one.get("attributeName") == "points"]
    assert {len(one.get("values").split(";")) for one in moves} == {10}
    assert not list(root.iter(f"{SVG}script")) and (tmp_path / "run.svg").stat().st_size < 20_000


def test_labels_in_svg_are_text(tmp_path):
    linsep.plots.animate([[0, 0], [1, 1]], ["<b>&", "z"], path=tmp_path / "run.svg")
    assert "<b>&" in "".join(ET.parse(tmp_path / "run.svg").getroot().itertext())


def test_gif_has_a_frame_for_each_update_and_lasts_at_its_end(tmp_path):
    linsep.plots.animate(*linsep.datasets.tao(), bias=False, path=tmp_path / "run.gif", seconds=0.5)
    with Image.open(tmp_path / "run.gif") as picture:
        assert picture.n_frames == 3 and picture.info["duration"] == 500
        picture.seek(2)
        assert picture.info["duration"] == 2000


def test_mp4_hands_every_pixel_to_ffmpeg(tmp_path, monkeypatch):
    tool = tmp_path / "ffmpeg"
    tool.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    linsep.plots.animate(*linsep.datasets.tao(), bias=False, path=tmp_path / "run.mp4")
    assert (tmp_path / "run.mp4").stat().st_size == (3 + animation.LAST - 1) * 900 * 440 * 3


@pytest.mark.skipif(not (shutil.which("ffmpeg") and shutil.which("ffprobe")), reason="ffmpeg is not installed")
@pytest.mark.parametrize(("seconds", "rate"), [(0.03, 50), (0.8, 25)])
def test_the_real_ffmpeg_makes_a_film_that_can_be_played(seconds, rate, tmp_path):
    linsep.plots.animate(*linsep.datasets.cornwell(), path=tmp_path / "run.mp4", seconds=seconds)
    asked = "stream=width,height,pix_fmt,avg_frame_rate,nb_read_frames"
    probe = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", asked, "-of", "json", tmp_path / "run.mp4"]
    (film,) = json.loads(subprocess.run(probe, capture_output=True, check=True).stdout)["streams"]
    frames = round((9 + animation.LAST) * seconds * rate)  # the start and nine updates, the last of them for longer
    assert abs(int(film.pop("nb_read_frames")) - frames) <= 1
    assert film == {"width": 900, "height": 440, "pix_fmt": "yuv420p", "avg_frame_rate": f"{rate}/1"}


@pytest.mark.parametrize("reads", ["cat > /dev/null", ":"], ids=["to the end", "nothing"])
def test_what_ffmpeg_says_is_passed_on(reads, tmp_path, monkeypatch):
    tool = tmp_path / "ffmpeg"
    tool.write_text(f"#!/bin/sh\n{reads}\necho no such codec >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(LinsepError, match="no such codec"):
        linsep.plots.animate(*linsep.datasets.tao(), bias=False, path=tmp_path / "run.mp4")
    assert not (tmp_path / "run.mp4").exists()


def test_without_ffmpeg_mp4_is_refused_before_any_work(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArgumentError, match="ffmpeg"):
        linsep.plots.animate([[1]], [0], path="run.mp4")


@pytest.mark.parametrize(
    ("X", "options", "error"),
    [
        ([[1, 2, 3], [4, 5, 6]], {}, ShapeError),
        ([[1, 2], [3, 4]], {"max_updates": 501}, ArgumentError),
        ([[1, 2], [3, 4]], {"seconds": 0.01}, ArgumentError),
        ([[1, 2], [3, 4]], {"path": "run.webm"}, ArgumentError),
        (np.arange(4004.0).reshape(-1, 2), {}, ArgumentError),
    ],
)
def test_what_cannot_be_filmed_is_refused(X, options, error, tmp_path):
    with pytest.raises(error):
        linsep.plots.animate(X, np.arange(len(X)) % 2, **{"path": tmp_path / "run.svg", **options})


def test_the_command_writes_the_film_and_says_its_title(tmp_path, capsys):
    out = str(tmp_path / "run.svg")
    assert main(["animate", "example:xor", "-o", out, "--max-updates", "6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "6 updates, no line separates the classes (proved)"
    assert main(["animate", "example:xor", "-o", "run.avi"]) == 2


def test_a_film_that_ends_early_says_what_is_proved_and_that_scaling_helps(tmp_path):
    X, y = [[171, 72], [176, 74], [181, 81], [168, 66], [165, 66], [186, 84]], [0, 1, 0, 1, 0, 1]
    title = linsep.plots.animate(X, y, path=tmp_path / "run.svg", max_updates=20)
    theory = linsep.novikoff(X, y)
    bounds = f"{theory.bound[1]:,.0f} ({theory.standardised:,.0f} with columns centred and scaled)"
    assert title == f"20 updates of at most {bounds}, not separated yet: separable (proved)"


def test_a_film_of_rows_that_could_not_be_decided_claims_nothing():
    X, y = linsep.datasets.xor()
    film = replace(Film.of(as_source(X, y), True, "cyclic", 6, 0), separable=None)
    assert film.title == "6 updates, not separated yet, which proves nothing"
