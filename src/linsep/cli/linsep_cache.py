"""`linsep cache`: the caches of slow files, shown or cleared."""

from typing import Annotated

from linsep import on_files
from linsep.cli.parameters import DONE_CODES, SEPARABLE, Debug, Json, app, switch
from linsep.cli.terminal import count, say, say_json


@app.command(help_epilogue=f"Example: linsep cache --clear\n\n{DONE_CODES}")
def cache(
    *,
    clear: Annotated[bool, switch("Delete them all.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Where the caches of text files are kept, how many there are and how large; or delete them.

    Deleting them loses nothing: the next read of a file writes its cache again. Other files in the folder stay.
    """
    found = on_files.cached(clear=clear)
    if json:
        facts = {"folder": found.folder, "caches": found.number, "bytes": found.size, "cleared": clear}
        say_json({**facts, "left_alone": found.left_alone})
        return SEPARABLE
    size = f"{count(found.number, 'cache')}{' deleted' if clear else ''}, {found.size / 1e6:,.1f} MB"
    say(f"{found.folder or 'no folder'}: {size if found.number else 'no caches'}.")
    if others := found.left_alone:
        say(f"Left alone, since linsep did not write {'them' if len(others) > 1 else 'it'}: {', '.join(others)}.")
    return SEPARABLE
