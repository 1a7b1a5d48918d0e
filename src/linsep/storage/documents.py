"""A kind of document as JSON text and back: models, proofs and checkpoints take one line each.

    {"format": NAME, "version": VERSION, fields..., "sha256": CHECKSUM}

one field per line. A text is read only if it has that format and version, is intact to the last bit, and has no
repeated fields and no NaN; `strict` reads the fields. Faults are raised as the error of that kind of document.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from linsep.errors import Fault, LinsepError, shown
from linsep.storage import checksum
from linsep.storage.strict import Document, FieldError, repeated

MOST_BYTES = 1 << 28  # 256 MiB: ten million weights
HEADER = ("format", "version", checksum.FIELD)

T = TypeVar("T")


class Written(str):
    """A value that is already JSON text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of document: its name, and the error that says what is wrong with one."""

    name: str
    version: int | str
    noun: str
    error: type[LinsepError]
    lead: str = ""  # the beginning of a sentence about a field
    is_ascii: bool = False

    def write(self, fields: Mapping[str, Any], version: int | str | None = None) -> str:
        """A document as text, with the format and its version first and a checksum last."""
        whole = {"format": self.name, "version": self.version if version is None else version, **fields}
        try:  # each field by itself: the encoder in C knows no indentation
            lines = [f' "{name}": {self._dumped(value)}' for name, value in whole.items()]
            return checksum.seal("{\n" + ",\n".join(lines) + "\n}")
        except UnicodeEncodeError as error:
            raise self.error("a name or a label holds half a surrogate pair, which is not text.") from error
        except ValueError as error:
            said = f"the {self.noun} holds a number that is not finite, which a file cannot keep: {error}."
            raise self.error(said) from error

    def _dumped(self, value: Any) -> str:
        return value if isinstance(value, Written) else json.dumps(value, allow_nan=False, ensure_ascii=self.is_ascii)

    def read(self, text: str | bytes, build: Callable[[Document], T], **newer: Callable[[Document], T]) -> T:
        """What `build` makes of the fields of a text, after a check that the text is intact.

        `newer` names later versions that are read as well, v2=..., and what is made of their fields.
        """
        builds: dict[int | str, Callable[[Document], T]] = {self.version: build}
        builds |= {name.removeprefix("v"): later for name, later in newer.items()}
        with self.refusals():
            version, fields = self._fields(text, list(builds))
            return builds[version](fields)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Raise what a reader of fields finds wrong as the error of this format."""
        try:
            yield
        except FieldError as wrong:
            raise self.error(f"{self.lead}{wrong}") from None

    def _fields(self, text: str | bytes, known: list[int | str]) -> tuple[int | str, Document]:
        self._require_short(text)
        document = self._parsed(text)
        if not isinstance(document, dict):
            raise self._foreign(f"it is {shown(document)}, not a JSON object")
        if document.get("format") != self.name:
            raise self._foreign(f"its format is {shown(document.get('format'))}, not {self.name!r}")
        version = document.get("version")
        if type(version) is not type(self.version) or version not in known:
            read = " and ".join(filter(None, [", ".join(map(str, known[:-1])), str(known[-1])]))
            raise FieldError(f"version is {shown(version)}: this linsep reads version {read}. Use a newer linsep.")
        if reason := checksum.fault(text):
            raise self._refused(f"the {self.noun} is not intact: {reason}")
        return version, {name: value for name, value in document.items() if name not in HEADER}

    def _parsed(self, text: str | bytes) -> Any:
        try:
            return parsed(text)
        except RecursionError:
            raise self._foreign("it is nested too deeply") from None
        except FieldError as wrong:
            raise self._foreign(str(wrong)) from None
        except ValueError as error:
            raise self._foreign(f"it is not JSON: {str(error)[:200]}") from None

    def _foreign(self, why: str) -> LinsepError:
        return self._refused(f"this is not a linsep {self.noun}: {why}")

    def _refused(self, what: str) -> LinsepError:
        return self.error(Fault(self.error.code, what, is_sentence=True))

    def content_of(self, path: str | Path) -> bytes:
        """The bytes of a file, if it is not larger than a document may be."""
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        self._require_short(content)
        return content

    def _require_short(self, text: str | bytes) -> None:
        if len(text) > MOST_BYTES:
            raise self._refused(f"the {self.noun} is too large: at most {MOST_BYTES:,} bytes are read")


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text: FieldError for a repeated field and for NaN, ValueError for what is not JSON."""
    return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)


def _without_repeats(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FieldError(f"the field {shown(repeated(name for name, _ in pairs))} appears twice")
    return found


def _no_constant(name: str) -> Any:
    raise FieldError(f"it holds {name}, which is not a JSON number")
