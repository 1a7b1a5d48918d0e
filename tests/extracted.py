"""The checker that is extracted from the theorems (`make checker`), as a process that is asked again and again."""

import json
import subprocess
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parents[1] / "theorems" / "build" / "linsep-checker"


class Extracted:
    """`ask` takes the arguments of `python -m linsep.checker`; returns the exit status and the text."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([PROGRAM, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Extracted":
        return self

    def __exit__(self, *_: Any) -> None:
        self._process.communicate()

    def ask(self, arguments: list[str]) -> tuple[int, str]:
        """One answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\t".join(arguments) + "\n")
        self._process.stdin.flush()
        status, text = self._process.stdout.readline().split(" ", 1)
        return int(status), json.loads(text)
