"""The command that shows the caches of slow files, and clears them."""

from typing import Annotated

from cyclopts import Parameter

from linsep.cli.options import SEPARABLE, Debug, Json


def cache(
    *,
    clear: Annotated[bool, Parameter(help="Delete them all.", negative="", show_default=False)] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Where the caches of text files are kept, how many there are and how large; or delete them.

    Nothing is lost with them: the next read of a file writes its cache again. Other files in the folder are left alone.
    """
    from linsep.cli import report
    from linsep.sources.files import private

    folder = private.cache_folder()
    if folder is None:
        found = (0, 0)
    elif clear:
        found = private.clear(folder)
    else:
        sizes = [what.st_size for _, what in private.caches(folder)]
        found = (len(sizes), sum(sizes))
    number, size = found
    foreign = [] if folder is None else [str(file) for file in private.strangers(folder)]
    if json:
        facts = {"folder": str(folder or ""), "caches": number, "bytes": size, "cleared": clear}
        report.say_json({**facts, "left_alone": foreign})
    elif not number:
        report.say(f"{folder}: no caches.")
    else:
        deleted = " deleted" if clear else ""
        report.say(f"{folder}: {report.count(number, 'cache')}{deleted}, {size / 1e6:,.1f} MB.")
    if foreign and not json:
        report.say(
            f"Left alone, since linsep did not write {'them' if len(foreign) > 1 else 'it'}: {', '.join(foreign)}."
        )
    return SEPARABLE
