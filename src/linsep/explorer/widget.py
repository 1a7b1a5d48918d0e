"""The explorer as a widget: the same page, its questions carried by anywidget."""

from typing import Any

from linsep.errors import LinsepError, MissingPackageError
from linsep.explorer.engine import beginning, questions
from linsep.explorer.export import bundle, page_text
from linsep.explorer.own_table import OwnTable

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingPackageError(error.name or "anywidget", "explore", "The explorer's pages") from error


class ExplorerWidget(anywidget.AnyWidget):
    """The page as a widget. It answers the questions of its page, and keeps nothing between them."""

    _esm = bundle("notebook.js") + "\nexport default { render: renderWidget };\n"
    _css = page_text("style.css")
    start = traitlets.Dict().tag(sync=True)

    def __init__(self, table: OwnTable | None = None) -> None:
        super().__init__(start=beginning(table))
        self._questions = questions(table)
        self.on_msg(self._answer)

    def _answer(self, _: Any, message: Any, buffers: Any) -> None:
        name, number = message.get("name"), message.get("id")
        try:
            if name not in self._questions:
                raise LinsepError(f"The page has no question {name!r}.")
            self.send({"id": number, "answer": self._questions[name](message.get("body"))})
        except LinsepError as error:
            self.send({"id": number, "error": str(error)})
