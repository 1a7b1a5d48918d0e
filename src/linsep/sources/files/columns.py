"""Which columns of a file are used: those that were chosen, or those that a model needs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from linsep.faults import fault, few
from linsep.sources.files.options import Needs, Options
from linsep.sources.files.values import NUMBER
from linsep.tables.categories import Coding, level_name

FILE_WITHOUT_NAMES = "The file has no column names: its columns must be in the order of the model's."
MODEL_WITHOUT_NAMES = "The model has no column names: its columns are those of the file, in their order."


def find_column(path: str, names: Sequence[str], wanted: str | int, option: str) -> int:
    """The position of a column given by its name, or by a position such as -1."""
    if isinstance(wanted, str) and wanted in names:
        return list(names).index(wanted)
    place = wanted if isinstance(wanted, int) else int(wanted) if re.fullmatch(r"-?[0-9]{1,9}", wanted) else None
    if place is not None and -len(names) <= place < len(names):
        return place % len(names)
    raise fault("no column", path, column=wanted, value=option, advice=advice(names, str(wanted)))


def advice(names: Sequence[str], name: str) -> str:
    """Which columns there are, and which one may have been meant."""
    if len(names) == 1 and "," in names[0]:
        return f"The header is the single column {names[0]!r}: a file with commas ends in .csv."
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        return f"The header is the single column {names[0]!r}: separate the columns by commas."
    if all(map(NUMBER.fullmatch, names)):
        return f"The columns are {few(names, 20)}: a first line of numbers, so the file seems to have no header."
    near = get_close_matches(name, names, n=1)
    return f"The columns are {few(names, 20)}." + (f" Did you mean {near[0]!r}?" if near else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """The positions of the columns to use, in order, and that of the label; and what the user should know about it."""

    columns: list[int]
    label: int | None
    id: int | None = None
    remark: str | None = None
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of text columns that are 0 and 1 in a model


def choose_columns(path: str, names: Sequence[str], options: Options, *, has_names: bool = True) -> Choice:
    """The columns that were chosen, or that a model needs."""
    if options.needs is not None:
        by_name = has_names and options.needs.names is not None
        choose = _choose_by_name if by_name else _choose_by_position
        return choose(path, names, options, options.needs)
    if options.label is None:
        raise fault("say the label", path, advice=f". {advice(names, 'label')}")
    label = find_column(path, names, options.label, "label")
    if has_names and options.stated_label not in (None, names[label]):
        raise fault("no such label", path, column=names[label], stated=options.stated_label)
    called = None if options.id is None else find_column(path, names, options.id, "id")
    if label == called:
        raise fault("label as column", path, column=names[label])
    if options.columns is None:
        others = [j for j in range(len(names)) if j not in (label, called)]
        if not others:
            raise fault("only the label", path)
        return Choice(others, label, called)
    chosen = [find_column(path, names, name, "columns") for name in options.columns]
    if not chosen:
        raise fault("only the label", path)
    if label in chosen:
        raise fault("label as column", path, column=names[label])
    if called in chosen:
        raise fault("id as column", path, column=names[called])
    if len(set(chosen)) < len(chosen):
        raise fault("column twice", path)
    return Choice(chosen, label, called)


def _choose_by_name(path: str, names: Sequence[str], options: Options, needs: Needs) -> Choice:
    """The columns that have the names of the model's; others are ignored."""
    places = {name: place for place, name in enumerate(names)}
    known = needs.label if isinstance(needs.label, str) else None
    label = places.get(known or "") if options.label is None else find_column(path, names, options.label, "label")
    chosen: dict[int, list[str]] = {}
    for name in needs.names or ():
        if name in places:
            chosen[places[name]] = []
            continue
        ends = (k for k, mark in enumerate(name) if mark == "[" and name[:k] in places and name.endswith("]"))
        stem = next((name[:k] for k in ends), None)
        if stem is None:
            raise fault("needs column", path, column=name, advice=advice(names, name))
        chosen.setdefault(places[stem], []).append(name[len(stem) + 1 : -1])  # a category that became a column
    extra = [name for j, name in enumerate(names) if j not in chosen and j != label]
    remark = f"Ignored, because the model does not use them: {few(extra, 20)}." if extra else None
    categories = {names[j]: tuple(values) for j, values in chosen.items() if values}
    made = [column for j, values in chosen.items() for column in made_of(names[j], values or None)]
    if tuple(made) != needs.names:
        odd = next(name for name, column in zip(needs.names or (), [*made, None], strict=False) if name != column)
        raise fault("needs own column", path, column=odd)
    return Choice(list(chosen), label, None, remark, categories)


def made_of(name: str, categories: Sequence[str] | None, coding: Coding = "all") -> list[str]:
    """What a column becomes: itself, or one column for each category, or for each but the first."""
    if categories is None:
        return [name]
    return [level_name(name, value) for value in categories[1 if coding == "reference" else 0 :]]


def _choose_by_position(path: str, names: Sequence[str], options: Options, needs: Needs) -> Choice:
    """The columns in their order, if the model or the file has no names."""
    label = None
    if options.label is not None:
        label = find_column(path, names, options.label, "label")
    elif len(names) == needs.width + 1 and isinstance(needs.label, int) and -len(names) <= needs.label < len(names):
        label = needs.label % len(names)
    others = [j for j in range(len(names)) if j != label]
    require_width(path, len(others), needs)
    return Choice(others, label, None, MODEL_WITHOUT_NAMES if needs.names is None else FILE_WITHOUT_NAMES)


def require_width(path: str, width: int, needs: Needs) -> None:
    """Refuse rows that are longer or shorter than the model's."""
    if width != needs.width:
        raise fault("width", path, seen=width, known=needs.width)
