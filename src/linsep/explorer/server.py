"""The explorer on a port of this machine: the page's files, and a few questions answered in JSON.

Nothing is kept between two requests, no request names a path on the disk, and each has limits: `SECONDS` to send its
head and as many for its body, `MOST_BYTES` of body, `JOBS` that compute at a time, and the limits of `requests`.
"""

import asyncio
import contextlib
import json
import socket
import sys
import webbrowser
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from linsep.errors import ArgumentError, LinsepError, MissingPackageError
from linsep.explorer.engine import Job, beginning, questions
from linsep.explorer.export import page_names, page_text
from linsep.explorer.security import ADDRESS, App, Gate
from linsep.storage.documents import parsed

try:
    import h11
    import uvicorn
    from anyio import CapacityLimiter, to_thread
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise MissingPackageError(error.name or "uvicorn", "explore", "The explorer's pages") from error

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable

MOST_HEAD = 1 << 20  # bytes: a browser also sends the cookies of every other program on this machine
MOST_BYTES = 1 << 14  # a question is a line
SECONDS = 5.0
JOBS = 2  # computing at a time; the others wait their turn
MOST_WAITING = 256

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Each file of the page by name, with its content type. Nothing else can be fetched."""
    return {
        name: (page_text(name).encode(), KINDS[ending])
        for name in page_names()
        if (ending := name[name.rfind(".") :]) in KINDS
    }


def application(table: "OwnTable | None" = None, *, seconds: float = SECONDS) -> App:
    """The routes, without the gate in front of them."""
    files, limiter = page_files(), CapacityLimiter(JOBS)
    start = json.dumps(beginning(table), allow_nan=False).encode()
    index = files["index.html"]
    routes = [
        Route("/", partial(_file, index), methods=["GET"]),
        *(Route(f"/{name}", partial(_file, file), methods=["GET"]) for name, file in files.items()),
        Route("/api/start", partial(_file, (start, "application/json")), methods=["GET"]),
        *(
            Route(f"/api/{name}", partial(_answer, job, limiter, seconds), methods=["POST"])
            for name, job in questions(table).items()
        ),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _refused, Exception: _fault})


async def _file(file: tuple[bytes, str], request: Request) -> Response:
    return Response(file[0], media_type=file[1])


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)


async def _fault(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"A bug in linsep, not of your data: {type(error).__name__}."}, 500)


async def _answer(job: Job, limiter: CapacityLimiter, seconds: float, request: Request) -> Response:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "The body must be application/json.")
    if limiter.statistics().tasks_waiting >= MOST_WAITING:
        raise HTTPException(429, "Too many requests are waiting.")
    body = await _body(request, seconds)
    try:
        question = parsed(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body is not JSON.") from None
    try:
        answer = await to_thread.run_sync(job, question, limiter=limiter)
    except LinsepError as error:
        return JSONResponse({"error": str(error), "kind": type(error).__name__}, 422)
    return JSONResponse(answer)


async def _body(request: Request, seconds: float) -> bytes:
    """The whole body, if it is small and arrives in time."""
    try:
        declared = int(request.headers.get("content-length", "0"))
    except ValueError:
        raise HTTPException(400, "Content-Length is not a number.") from None
    if declared > MOST_BYTES:
        raise HTTPException(413, f"The body is longer than {MOST_BYTES} bytes.")
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > MOST_BYTES:
                    raise HTTPException(413, f"The body is longer than {MOST_BYTES} bytes.")
                parts.append(part)
    except TimeoutError:
        raise HTTPException(408, f"The body took longer than {seconds:g} s.", {"connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "The body was cut short.") from None
    return b"".join(parts)


def impatient(seconds: float) -> type[H11Protocol]:
    """HTTP on a connection that is closed unless the head of a request is complete within this many seconds.

    uvicorn itself waits forever, so that a few hundred silent connections would use up the server.
    """

    class Impatient(H11Protocol):
        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE:  # a head has begun but not ended
                self.wait()
            else:
                self.stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self.stop_waiting()
            super().connection_lost(exc)

        def wait(self) -> None:
            if self.waiting is None:
                self.waiting = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

        def stop_waiting(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

    return Impatient


class Explorer:
    """A server that is bound to its port, and ready to run."""

    def __init__(
        self, table: "OwnTable | None" = None, *, port: int = 0, token: str | None = None, seconds: float = SECONDS
    ) -> None:
        self.socket = _listen(port)
        self.port: int = self.socket.getsockname()[1]
        self.gate = Gate(application(table, seconds=seconds), self.port, token)
        config = uvicorn.Config(
            self.gate,
            http=impatient(seconds),
            h11_max_incomplete_event_size=MOST_HEAD,
            log_level="error",
            access_log=False,
            ws="none",
            lifespan="off",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        self.server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """The secret address that opens the page."""
        return self.gate.address

    def run(self) -> None:
        """Serve until interrupted."""
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.socket.close()

    def stop(self) -> None:
        """Ask the running server to end."""
        self.server.should_exit = True


def announce(address: str) -> None:
    """Print the address of the explorer."""
    print(f"The explorer is at {address}\nCtrl-C ends it.")


def serve(
    table: "OwnTable | None" = None,
    *,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], None] = announce,
) -> None:
    """Announce the address, open it in the browser, and serve until Ctrl-C."""
    explorer = Explorer(table, port=port)  # first, so that a port in use is reported at once
    with contextlib.closing(explorer.socket):
        if table is not None:
            table.prepare()
        tell(explorer.address)
        sys.stdout.flush()
        if browser:
            webbrowser.open(explorer.gate.address_for_once())
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is the normal end
            explorer.run()


def _listen(port: int) -> socket.socket:
    # The protocol is named because only then asyncio sends at once (TCP_NODELAY): else each answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise ArgumentError(f"Port {port} cannot be used: {error}. Leave --port out to get a free one.") from error
    listener.listen(256)
    return listener
