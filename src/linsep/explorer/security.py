"""Who may talk to the explorer: only the browser that was given the token, and only from this page.

The server listens on the loopback address only. That keeps other machines out, but not other pages in the same
browser, nor other users of this machine, so every request must also

    name this server in Host            a page that DNS rebound to 127.0.0.1 names another host
    name this page in Origin            if it has one; a request that changes or computes something must
    have the cookie                     which only the secret address of `linsep explore` sets

and the headers of every answer stop the page from loading, running or sending anything from or to elsewhere.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_BYTES = 24  # 192 bits
ADDRESS = "127.0.0.1"
READING = ("GET", "HEAD")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",  # a picture on its way into a PNG file
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Gate:
    """Lets requests from the page itself through, and refuses all others."""

    def __init__(self, app: App, port: int, token: str | None = None) -> None:
        self.app = app
        self.host = f"{ADDRESS}:{port}"
        self.origin = f"http://{self.host}"
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        self._cookie = secrets.token_urlsafe(TOKEN_BYTES)
        self._once: str | None = None
        self._name = f"linsep-{port}"  # cookies do not depend on the port: two explorers must not share one

    @property
    def address(self) -> str:
        """The secret address that opens the page."""
        return f"{self.origin}/?token={self.token}"

    def address_for_once(self) -> str:
        """An address that opens the page only once: other users may read it on the browser's command line."""
        self._once = secrets.token_urlsafe(TOKEN_BYTES)
        return f"{self.origin}/?token={self._once}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # websockets are not supported
            return
        refusal = self._refusal(scope)
        if refusal:
            await _plain(send, 403, refusal)
        elif scope["method"] in READING and _has_body(scope):
            await _plain(send, 400, "A request that reads has no body.", [(b"connection", b"close")])
        elif scope["path"] == "/" and scope["method"] == "GET" and b"token=" in scope["query_string"]:
            await self._exchange(scope, send)
        elif not self._has_cookie(scope):
            await _plain(send, 403, "Open the page with the whole address that linsep explore printed.")
        else:
            await self.app(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope) -> str | None:
        if _values(scope, b"host") != [self.host]:
            return "This server answers to its own name only."
        origins, is_reading = _values(scope, b"origin"), scope["method"] in READING
        if origins != [self.origin] and not (is_reading and not origins):
            return "This server answers to its own page only."
        if not set(_values(scope, b"sec-fetch-site")) <= {"same-origin", "none"}:
            return "This server answers to its own page only."
        return None

    async def _exchange(self, scope: Scope, send: Send) -> None:
        """Exchange the token in the address for a cookie; the address then no longer contains a secret."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for key, value in query if key == "token"]
        if len(tokens) != 1 or not self._is_known(tokens[0]):
            await _plain(send, 403, "The token is wrong, or was used before. linsep explore prints the whole address.")
            return
        rest = "embed" if any(key == "embed" for key, _ in query) else ""
        cookie = f"{self._name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", f"/{'?' + rest if rest else ''}".encode()), (b"set-cookie", cookie.encode())]
        await _plain(send, 303, "", headers)

    def _is_known(self, token: str) -> bool:
        if self._once is not None and _same(token, self._once):
            self._once = None
            return True
        return _same(token, self.token)

    def _has_cookie(self, scope: Scope) -> bool:
        """Whether our cookie is among those sent; other programs on this machine may have set any others."""
        pairs = (pair.strip().partition("=") for value in _values(scope, b"cookie") for pair in value.split(";"))
        return any(_same(value, self._cookie) for name, _, value in pairs if name == self._name)


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _has_body(scope: Scope) -> bool:
    return _values(scope, b"content-length") not in ([], ["0"]) or bool(_values(scope, b"transfer-encoding"))


def _guarded(send: Send) -> Send:
    """Add the headers that every answer has."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
        await send(message)

    return guarded


async def _plain(send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    kind = (b"content-type", b"text/plain; charset=utf-8")
    start = {"type": "http.response.start", "status": status, "headers": [kind, *(headers or []), *HEADERS]}
    await send(start)
    await send({"type": "http.response.body", "body": text.encode()})
