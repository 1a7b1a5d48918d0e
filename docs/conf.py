"""The documentation as a site: `make docs`. Its pages are the Markdown files of the forge, read where they lie."""

import re
from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from linsep.explorer import export

ROOT = Path(__file__).resolve().parents[1]

project = "linsep"
author = copyright = "The linsep developers"  # noqa: A001 - the name that Sphinx reads
version = release = re.findall(r'"([\d.]+)"', (ROOT / "src/linsep/_version.py").read_text(encoding="utf-8"))[0]

# The source is the repository, so that a link such as ../CHANGELOG.md means the same here as on a forge.
root_doc = "docs/index"
include_patterns = [
    "docs/*.md", "docs/gallery/**", "lessons/*.md", "theorems/README.md",
    "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md",
]  # fmt: skip
exclude_patterns = [f"docs/gallery/**/*.{made}" for made in ("py", "ipynb", "md5")]
extensions = ["myst_parser", "sphinx_gallery.gen_gallery", "sphinx_copybutton"]
myst_heading_anchors = 6
myst_enable_extensions = ["html_image"]
suppress_warnings = ["myst.header"]  # a page may begin with a comment
nitpicky = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"plot_",
    "min_reported_time": 1_000_000,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "linsep"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # else the theme warns on a first visit
html_theme_options = {
    "logo": {"text": "linsep"},
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": ["globaltoc.html"]}


def navigation(app: Sphinx, page: str, text: list[str]) -> None:
    """The sidebar, from the lists of docs/index.md: a section each, its links in their order."""
    if page != root_doc:
        return
    trees: list[str] = []
    placed: set[str] = set()
    for head, body in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text[0], re.MULTILINE | re.DOTALL):
        pages = dict.fromkeys(name for name in re.findall(r"\]\(([\w./-]+)\.(?:md|rst)", body) if name not in placed)
        placed.update(pages)
        if pages:
            trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {head}", "", *pages, "```"]))
    trees.append("```{toctree}\n:hidden:\n:caption: Gallery\n\ngallery/index\n```")
    text[0] += "\n" + "\n\n".join(trees) + "\n"


# After these words a page links to the explorer itself, which only the site has.
LIVE = {
    "docs/explorer": ("and `--export` writes it.", ' <a href="../explorer.html">Open it here</a>.'),
    "docs/theorems": ("on points that you can move", ' (<a href="../explorer.html">open it</a> beside this page)'),
}


def live_links(app: Sphinx, page: str, text: list[str]) -> None:
    """Links to the explorer itself."""
    if page in LIVE:
        words, link = LIVE[page]
        text[0] = text[0].replace(words, words + link, 1)


def without_last_line(app: Sphinx, page: nodes.document) -> None:
    """A doctest ends with an empty line, which would be drawn."""
    for block in page.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block[:] = [nodes.Text(text)]


def live_page(app: Sphinx, error: Exception | None) -> None:
    """The explorer itself, where the links lead."""
    if error is None:
        Path(app.outdir, "explorer.html").write_text(export.page(), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", live_links)
    app.connect("build-finished", live_page)
    app.connect("source-read", navigation)
    app.connect("doctree-read", without_last_line)
    app.add_lexer("csv", TextLexer)
