"""The slides of the lessons: one HTML file with the library's own pictures, moving. `python lessons/make_slides.py`.

Arrow keys, space or a tap go on; the file needs no network and prints one slide a page.
"""

from html import escape
from pathlib import Path

import linsep
from linsep.picture import Picture
from linsep.plots.film import Film
from linsep.plots.moving_svg import moving_svg
from linsep.sources.inputs import as_source

HERE = Path(__file__).parent
CSS = """
*{box-sizing:border-box}html{color-scheme:light dark}body{margin:0;font:clamp(16px,2.2vw,26px)/1.45 system-ui,sans-serif}
section{display:none;min-height:100vh;padding:6vh 7vw;flex-direction:column;justify-content:center}
section.on{display:flex}h1{font-size:1.7em;margin:0 0 .5em}p{margin:.3em 0;max-width:46em}.ask{font-weight:600}
svg{width:100%;height:auto;max-height:62vh;margin-top:1em}footer{position:fixed;right:1em;bottom:.5em;opacity:.6;font-size:.6em}
code{font-size:1.05em}@media print{section{display:flex;break-after:page;min-height:0}footer{display:none}}
"""
SCRIPT = """
const all=[...document.querySelectorAll("section")];
let at=Math.min(Math.max(Number(location.hash.slice(1))||1,1),all.length)-1;
function show(k){at=Math.min(Math.max(k,0),all.length-1);all.forEach((s,i)=>s.classList.toggle("on",i===at));
document.querySelector("footer").textContent=(at+1)+" / "+all.length;history.replaceState(null,"","#"+(at+1));}
addEventListener("keydown",e=>{if(["ArrowRight","PageDown"," "].includes(e.key)){e.preventDefault();show(at+1)}
if(["ArrowLeft","PageUp"].includes(e.key)){e.preventDefault();show(at-1)}if(e.key==="Home")show(0);
if(e.key==="End")show(all.length-1)});
addEventListener("click",e=>show(at+(e.clientX<innerWidth/3?-1:1)));show(at);
"""


def film(name: str, *, bias: bool, most: int = 12, key: str = "") -> str:
    """A run on an example of the lectures, as SVG that moves."""
    rows = as_source(*getattr(linsep.datasets, name)())
    svg = moving_svg(Film.of(rows, bias, "cyclic", most, 0), 1.2).decode()
    own = f"seen-{key or name}"  # an id is used once in a file
    return svg.replace('id="seen"', f'id="{own}"').replace("url(#seen)", f"url(#{own})")


def points() -> str:
    """Cornwell's points, without a line."""
    X, y = linsep.datasets.cornwell()
    minus, plus = (tuple((float(a), float(b)) for a, b in X[y == sign]) for sign in (-1, 1))
    return Picture((minus, plus), ("-1", "+1"), "four points of two classes").svg()


def forbidden() -> str:
    """XOR and the point that both classes share."""
    drawn = linsep.decide(*linsep.datasets.xor()).report().picture
    return "" if drawn is None else drawn.svg()


def slides() -> list[tuple[str, list[str], str]]:
    """Title, lines (a question first, marked with ?) and picture of each slide."""
    theory = linsep.novikoff(*linsep.datasets.cornwell())
    bound = f"Here R² = 11, gamma² = 1/5: at most {theory.most_updates} updates. The run needs 9."
    return [
        ("Can you separate them?", ["?Four points, two classes. Draw a line.", "w·x + b = 0: w turns it, b shifts it."], points()),
        (
            "A mistake, and what the rule does",
            ["?The row (0, 1.5) is +1 and scores 2·0 + (-2)·1.5 - 2 = -5. What would you change?",
             "Add the row: w + x, b + 1. Its score rises by |x|² + 1 = 3.25."],
            "",
        ),
        ("The rule", ["?Does it ever stop?", "While a row has y·(w·x + b) <= 0: w += y·x, b += y."], film("cornwell", bias=True)),
        (
            "Floor",
            ["?How far does each update bring W along the best direction u*?",
             "W'·u* = W·u* + Z·u* >= W·u* + gamma. After k updates: W·u* >= k·gamma."],
            "",
        ),
        (
            "Ceiling",
            ["?And how long can W get?", "|W'|² = |W|² + 2·W·Z + |Z|², and W·Z <= 0 at a mistake. So |W|² <= k·R²."],
            "",
        ),
        ("The wall", ["?A straight line under a root: how long?", "k·gamma <= sqrt(k)·R, so k <= (R/gamma)² (Novikoff 1962).", bound], film("cornwell", bias=True, key="wall")),
        ("Through the origin: Wang", ["?Three updates. Which rows?", "At rows 0, 2 and 4; the second pass is clean."], film("wang", bias=False)),
        ("XOR", ["?Draw a line.", "The Perceptron repeats every 4 updates."], film("xor", bias=True, most=8)),
        ("Why not", ["?Which point must be on both sides?", "(1/2, 1/2): the middle of both diagonals."], forbidden()),
        (
            "What now",
            ["?What would a third column have to be?",
             "x1·x2: the four points become corners of a tetrahedron, and a plane parts them. A kernel does this without naming the columns."],
            "",
        ),
    ]  # fmt: skip


def section(title: str, lines: list[str], picture: str) -> str:
    """One slide."""
    told = "".join(
        f'<p class="ask">{escape(line[1:])}</p>' if line.startswith("?") else f"<p>{escape(line)}</p>" for line in lines
    )
    return f"<section><h1>{escape(title)}</h1>{told}{picture}</section>"


def deck() -> str:
    """The whole file."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>The Perceptron</title>'
    body = "\n".join(section(*one) for one in slides())
    parts = (
        f"<head>{head}<style>{CSS}</style></head>\n<body>\n{body}\n<footer></footer><script>{SCRIPT}</script></body>"
    )
    return f'<!doctype html>\n<html lang="en">{parts}</html>\n'


if __name__ == "__main__":
    (HERE / "slides.html").write_text(deck(), "utf-8")
