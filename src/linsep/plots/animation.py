"""A run of the Perceptron as a moving picture: GIF, MP4 (if ffmpeg is installed), or animated SVG."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError, LinsepError
from linsep.learners.perceptron import Order
from linsep.outputs import write_file
from linsep.plots import style
from linsep.plots.film import Film, Moment
from linsep.plots.moving_svg import moving_svg
from linsep.sources.inputs import as_source

DOTS_PER_INCH = 100
SIZE = (9.0, 4.4)  # inches; in pixels both must be even for MP4
LAST = 4  # the last frame is shown this many times as long
SHORTEST, LONGEST = 0.02, 60.0  # seconds for an update; browsers slow down anything shorter
INSTEAD = "Write a .gif or .svg."


def animate(
    X: Any,
    y: Any = None,
    *,
    path: str | Path,
    bias: bool = True,
    order: Order = "cyclic",
    max_updates: int = 100,
    seconds: float = 0.8,
    random_state: Any = 0,
) -> str:
    """Write a run of the Perceptron on two columns as a film. The same rows give the same bytes.

    Each update is shown: the points, the line and the row just corrected; beside them, if the rows are separable, the
    two curves of Novikoff's proof and the wall where they meet.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them; two columns.
    path : str or Path
        Its extension chooses the format: .gif, .svg (animated, for browsers), or .mp4 if the program ffmpeg is
        installed.
    bias, order, max_updates, random_state
        Those of `perceptron`.
    seconds : float
        How long each update is shown: from 0.02 to 60.

    Returns
    -------
    str
        The title of the film.

    Raises
    ------
    InputError
        The data cannot be used, or the film cannot be made; the message says why.

    Examples
    --------
    >>> import linsep, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> linsep.plots.animate(*linsep.datasets.cornwell(), path=folder / "run.svg")
    '9 updates of at most 55, then separated'
    """
    write = writer(path)
    if not SHORTEST <= float(seconds) <= LONGEST:
        raise ArgumentError(f"seconds is {seconds}: an update is shown for {SHORTEST:g} to {LONGEST:g} seconds.")
    bias = arguments.flag("bias", bias)
    film = Film.of(as_source(X, y), bias, order, arguments.whole("max_updates", max_updates, 1), random_state)
    write_file(path, write(film, float(seconds)))
    return film.title


def writer(path: str | Path) -> Callable[[Film, float], bytes]:
    """The function that writes files of this extension; if there is none, that is refused before any work is done."""
    known = {".gif": as_gif, ".mp4": as_mp4, ".svg": moving_svg}
    extension = Path(path).suffix.lower()
    if extension not in known:
        raise ArgumentError("a film has the extension .gif, .mp4 or .svg", file=str(path))
    if extension != ".svg":
        style.require_matplotlib()
    if extension == ".mp4" and shutil.which("ffmpeg") is None:
        raise ArgumentError("MP4 needs the program ffmpeg, which is not found", file=str(path), fix=INSTEAD)
    return known[extension]


def as_gif(film: Film, seconds: float) -> bytes:
    """The frames as an animated GIF that loops."""
    from PIL import Image

    pictures = [Image.fromarray(pixels).convert("P", palette=Image.Palette.ADAPTIVE) for pixels in drawn(film)]
    each = round(1000 * seconds)
    lasting = [*[each] * (len(pictures) - 1), LAST * each]
    content = BytesIO()
    pictures[0].save(content, "GIF", save_all=True, append_images=pictures[1:], duration=lasting, loop=0)
    return content.getvalue()


def as_mp4(film: Film, seconds: float) -> bytes:
    """The same through ffmpeg, which is given the pixels frame by frame."""
    width, height = (round(side * DOTS_PER_INCH) for side in SIZE)
    rate = "25" if seconds >= 1 / 25 else "50"  # no update is left out
    with tempfile.TemporaryDirectory() as folder:
        made, said = Path(folder) / "film.mp4", Path(folder) / "said"
        form = ["-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{width}x{height}"]
        coded = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-r", rate, "-bitexact", "-y", str(made)]
        command = ["ffmpeg", "-loglevel", "error", *form, "-framerate", f"{1 / seconds:.6f}", "-i", "-", *coded]
        code = _fed(command, film, said)
        if code or not made.exists():
            words = said.read_text("utf-8", errors="replace").strip().splitlines() or [f"exit code {code}"]
            raise LinsepError(f"ffmpeg failed: {words[-1]}", fix=INSTEAD)
        return made.read_bytes()


def _fed(command: list[str], film: Film, said: Path) -> int:
    """Run a program with the frames as its input and its messages written to a file; return its exit code."""
    last = len(film.frames) - 1
    with said.open("wb") as words, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=words) as process:
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                for number, picture in enumerate(drawn(film)):
                    pipe.write(picture.tobytes() * (LAST if number == last else 1))
        except BrokenPipeError:
            pass  # it ended early, and said why
        return process.wait()


def drawn(film: Film) -> Iterator[Any]:
    """Each frame as pixels: height x width x 3."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, dpi=DOTS_PER_INCH, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    parts = figure.subplots(1, 1 if film.theory is None else 2, squeeze=False)[0]
    show = [_plane(parts[0], film), *([_proof(parts[1], film)] if film.theory is not None else [])]
    for frame in film.frames:
        figure.suptitle(style.literal(frame.text), fontsize="medium", x=0.01, ha="left")
        for move in show:
            move(frame)
        canvas.draw()
        figure.set_layout_engine("none")  # laid out once: only what is learned moves
        yield np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def _plane(ax: Any, film: Film) -> Callable[[Moment], None]:
    """Draw the points; return a function that moves the line, its two sides and the ring."""
    (left, bottom), (right, top) = film.box()[[0, 2]].tolist()
    grounds = {sign: ax.fill([], [], color=style.tint(color, ax, style.PALE), lw=0, zorder=0)[0]
               for sign, color, _ in style.CLASSES}  # fmt: skip
    style.tidy(ax, "", style.points(ax, film.points, film.signs, film.labels))
    (line,) = ax.plot([], [], color=style.ink(), lw=1.6)
    (ring,) = ax.plot([], [], "o", ms=13, mfc="none", mec=style.ink(), mew=1.4, zorder=5)
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.set(xlabel=style.literal(film.names[0]), ylabel=style.literal(film.names[1]))

    def move(frame: Moment) -> None:
        for sign, ground in grounds.items():
            corners = film.side(frame, sign)
            ground.set_xy(corners if len(corners) > 2 else np.zeros((3, 2)))
        line.set_data(*film.border(frame).T)
        ring.set_data(*film.points[[frame.row] if frame.row >= 0 else []].T)

    return move


def _proof(ax: Any, film: Film) -> Callable[[Moment], None]:
    """Draw floor, ceiling and wall; return a function that extends the two curves of the run."""
    theory = film.theory
    assert theory is not None
    wall = theory.bound[1]
    k = np.linspace(0, film.reach(), 300)
    floor, ceiling = theory.gamma[0] * k, theory.radius[1] * np.sqrt(k)
    ax.plot(k, ceiling, color=style.NEGATIVE, ls=(0, (4, 2)), lw=1, label="√k·R, the ceiling")
    ax.plot(k, floor, color=style.POSITIVE, ls=(0, (4, 2)), lw=1, label="k·γ, the floor")
    ax.axvline(wall, color=style.ink(), lw=2)
    ax.set_title(f"(R/γ)² = {wall:,.0f}, the wall", loc="right", fontsize="small")
    (length,) = ax.plot([], [], "o-", color=style.NEGATIVE, ms=3, lw=2, label="|W|")
    (along,) = ax.plot([], [], "o-", color=style.POSITIVE, ms=3, lw=2, label="W·u*")
    ax.set(xlim=(0, k[-1]), ylim=(0, 1.02 * ceiling[-1]), xlabel="updates k")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", frameon=False, fontsize="small")

    def move(frame: Moment) -> None:
        shown = film.frames[: frame.update + 1]
        updates = [one.update for one in shown]
        length.set_data(updates, [one.length for one in shown])
        along.set_data(updates, [one.along for one in shown])

    return move
