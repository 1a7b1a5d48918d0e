"""docs/api.md from the docstrings of the public names: `make api`. A test holds that the page is current."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import linsep
from linsep.proofs.verdict_base import Verdict

PAGE = Path(__file__).with_name("api.md")
GROUPS = {
    "Questions": (
        "decide", "decide_classes", "max_margin", "max_margin_classes", "novikoff", "fewest_mistakes",
        "separate_regions", "clean", "describe",
        "mle_exists", "verdict_from_json",
    ),
    "Answers": (
        "Separable",
        "Touching",
        "Overlapping",
        "NotSeparable",
        "Undecided",
        "Obstruction",
        "ClassVerdicts",
        "Novikoff",
        "FewestMistakes",
        "Cleaning",
        "Description",
        "Regions",
        "MleReport",
    ),
    "The Perceptron": ("perceptron", "perceptron_steps", "PerceptronRun", "Step", "Halfspace", "homogenise"),
    "Classifiers": (
        "PerceptronClassifier", "KernelPerceptronClassifier", "MaxMarginClassifier", "FewestMistakesClassifier",
        "RegionsClassifier", "OnlinePerceptron", "load", "to_onnx", "register_skl2onnx",
    ),
    "Theory": ("theory", "losses"),
    "Rows from files and on a GPU": ("open", "on_files", "on_device"),
    "Pictures": ("explore", "plots"),
    "Data": ("datasets",),
    "Errors": ("errors", "LinsepError", "InputError", "CertificateError", "NotSeparableError", "NotSeparableWarning"),
}  # fmt: skip
HEAD = """# The Python interface

Every public name, from its docstring. `X` is an array, a SciPy sparse matrix, a dataframe (pandas, polars) or an Arrow
table, `y` its labels. Functions with `y=None`, all but `explore`, also take a [source](files.md) in place of both.

Made by `make api`.
"""


def page() -> str:
    """The whole page."""
    seen: set[Any] = set()
    parts = [HEAD]
    for group, names in GROUPS.items():
        parts += [f"## {group}", *([common()] if group == "Answers" else []), *(entry(name, seen) for name in names)]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).strip() + "\n"


def common() -> str:
    """What the four verdicts have in common, which no public name says."""
    fields = [field.name for field in dataclasses.fields(Verdict)]
    named = ", ".join(f"`{name}`" for name in ("kind", "separable", *fields))
    return f"Every verdict has {named}.\n\n{markdown(Verdict)}"


def entry(name: str, seen: set[Any]) -> str:
    """A public name: a function, a class with its methods, or a module with its functions."""
    value = getattr(linsep, name)
    if isinstance(value, ModuleType):
        inner = list(functions(value)) if name != "errors" else []
        return "\n\n".join([f"### linsep.{name}", markdown(value), *(member(f"{name}.{n}", f) for n, f in inner)])
    found = list(members(value)) if is_class(value) else []
    fresh = [member(f"{name}.{inner}", method) for inner, method in found if method not in seen]
    known = ", ".join(f"`{inner}`" for inner, method in found if method in seen)
    seen.update(method for _, method in found)
    also = [f"Also {known}, as above."] if known else []
    return "\n\n".join([f"### linsep.{name}", call(name, value), markdown(value), *also, *fresh])


def member(name: str, value: Any) -> str:
    """A method, a property or a function of a module."""
    return "\n\n".join([f"#### {name}", call(name, value), markdown(value)])


def is_class(value: Any) -> bool:
    """A class whose methods are shown: an error has none of its own."""
    return isinstance(value, type) and not issubclass(value, Exception)


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of a module, in the order of its `__all__`, or else those that it defines."""
    names = getattr(module, "__all__", None) or [n for n, v in vars(module).items() if is_own(v, module)]
    for name in names:
        value = getattr(module, name)
        if (inspect.isfunction(value) or inspect.isclass(value)) and not name.startswith("_"):
            yield name, value


def is_own(value: Any, module: ModuleType) -> bool:
    """A function that the module defines itself."""
    return inspect.isfunction(value) and value.__module__ == module.__name__


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """The documented methods and properties that linsep defines, those of base classes included."""
    homes = [home for home in owner.__mro__ if home.__module__.startswith("linsep")]
    seen = {name: value for home in reversed(homes) for name, value in vars(home).items()}
    for name in sorted(seen):
        value = seen[name].__func__ if isinstance(seen[name], classmethod | staticmethod) else seen[name]
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)) and value.__doc__:
            yield name, value


def call(name: str, value: Any) -> str:
    """How it is called: parameters and defaults, without types, which the prose explains."""
    if isinstance(value, property) or (isinstance(value, type) and issubclass(value, Exception)):
        return ""
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(value).parameters.values()]
    shown = inspect.Signature([p for p in parameters if p.name not in ("self", "cls")])
    words = re.sub(r"<class 'numpy\.(\w+)'>", r"\1", str(shown))
    return f"```text\n{name}{words}\n```"


def markdown(value: Any) -> str:
    """A docstring as Markdown: prose, lists of parameters, and examples that run."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(value) or "")
    return "\n\n".join(block(paragraph) for paragraph in paragraphs)


def block(paragraph: str) -> str:
    """One paragraph: an example, a list under a heading, a drawing, or prose."""
    title, _, rest = paragraph.partition("\n")
    if rest.startswith("---"):
        body = rest.partition("\n")[2]
        return f"**{title}**\n\n" + (block(body) if body.startswith(">>>") else items(body))
    if paragraph.startswith(">>>"):
        return f"```python\n{paragraph}\n\n```"
    if re.match(r" {4}\S", paragraph) or "├" in paragraph or "└" in paragraph:
        return f"```text\n{inspect.cleandoc(paragraph)}\n```"
    return paragraph


def items(text: str) -> str:
    """A section of numpydoc as a list: `name : kind`, or a name or a type alone, and what is said of it below."""
    found = re.findall(r"^(\S.*)((?:\n +.*)*)", text, re.MULTILINE)
    return "\n".join(item(*head.partition(" : ")[::2], " ".join(more.split())) for head, more in found)


def item(name: str, kind: str, more: str) -> str:
    """One line of such a list."""
    return f"- `{name}`" + (f" ({kind})" if kind else "") + (f": {more}" if more else "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
