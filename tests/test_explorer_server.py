"""The explorer's server: every route against everything that must be refused, its limits, and its speed under load."""

import asyncio
import contextlib
import json
import socket
import threading
import time

import httpx
import numpy as np
import pytest

from explorer import storm  # of benchmarks/
from linsep.errors import ArgumentError
from linsep.explorer.own_table import OwnTable
from linsep.explorer.security import HEADERS
from linsep.explorer.server import MOST_BYTES, Explorer, page_files

BODIES = {
    "/api/run": {},
    "/api/view": {"columns": None, "update": 3},
    "/api/row": {"row": 1},
}
READ = ["/", "/api/start", *(f"/{name}" for name in page_files())]
ROUTES = [*(("GET", path) for path in READ), *(("POST", path) for path in BODIES)]


@contextlib.contextmanager
def serving(seconds):
    """A server that waits so long for a head and for a body."""
    rng = np.random.default_rng(0)
    table = OwnTable(rng.normal(size=(30, 4)), rng.integers(0, 2, 30))
    explorer = Explorer(table, seconds=seconds)
    thread = threading.Thread(target=explorer.run, daemon=True)
    thread.start()
    yield explorer
    explorer.stop()
    thread.join(10)


@contextlib.contextmanager
def visiting(explorer):
    """A browser that has exchanged its token for the cookie."""
    origin = explorer.gate.origin
    with httpx.Client(base_url=origin, headers={"origin": origin}, timeout=60) as client:
        assert client.get(explorer.address).status_code == 303
        yield client


@pytest.fixture(scope="module")
def explorer():
    """A patient server: on a busy machine the tests themselves may be slow to send."""
    with serving(seconds=60) as explorer:
        yield explorer


@pytest.fixture(scope="module")
def hasty():
    with serving(seconds=0.3) as explorer:
        yield explorer


@pytest.fixture(scope="module")
def client(explorer):
    with visiting(explorer) as client:
        yield client


def ask(client, method, path, **options):
    if method == "POST":
        options.setdefault("json", BODIES.get(path, {}))
    return client.request(method, path, **options)


def as_stranger(client, method, path, **headers):
    body = {"json": BODIES[path.partition("?")[0]]} if method == "POST" else {}
    headers["origin"] = client.headers["origin"]
    return httpx.request(
        method,
        f"http://{client.base_url.netloc.decode()}{path}",
        headers=headers,
        verify=False,
        trust_env=False,
        **body,
    )


def tell(client, method, path, body, kind="application/json"):
    """Send a body. If the server closes the line while we are still talking, that is a refusal, its answer unread."""
    try:
        return client.request(method, path, content=body, headers={"content-type": kind})
    except (httpx.NetworkError, httpx.RemoteProtocolError):
        return httpx.Response(413)


def without_cookie(client, method, path):
    return as_stranger(client, method, path)


def with_wrong_token(client, method, path):
    (name,) = client.cookies.keys()
    return as_stranger(client, method, f"{path}?token={'A' * 32}", cookie=f"{name}={'A' * 32}")


def with_foreign_host(client, method, path):
    return ask(client, method, path, headers={"host": f"evil.example:{client.base_url.port}"})


def with_foreign_origin(client, method, path):
    return ask(client, method, path, headers={"origin": "http://evil.example"})


def with_null_origin(client, method, path):
    return ask(client, method, path, headers={"origin": "null"})


def with_origin_of_another_port(client, method, path):
    return ask(client, method, path, headers={"origin": "http://127.0.0.1:1"})


def from_another_site(client, method, path):
    return ask(client, method, path, headers={"sec-fetch-site": "cross-site"})


def with_wrong_method(client, method, path):
    return ask(client, "PUT" if method == "GET" else "GET", path)


def with_wrong_content_type(client, method, path):
    return tell(client, method, path, json.dumps(BODIES.get(path)), "text/plain")


def with_an_oversize_body(client, method, path):
    return tell(client, method, path, b'{"points": "' + b"x" * MOST_BYTES + b'"}')


def with_an_endless_body(client, method, path):
    return tell(client, method, path, (b" " * 4096 for _ in range(MOST_BYTES // 4096 + 2)))


def slow_body(client, method, path):
    (name, value), host = next(iter(client.cookies.items())), client.base_url.netloc.decode()
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {name}={value}\r\n"
    with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=10) as line:
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        return httpx.Response(int(line.recv(4096).split()[1]))


FAULTS = [value for name, value in list(globals().items()) if name.startswith(("with_", "without_", "from_"))]


def test_there_are_eleven_faults():
    assert len(FAULTS) == 11


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_fault_is_refused_on_every_route(client, fault, route):
    assert fault(client, *route).status_code in (400, 403, 405, 413, 415)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_a_slow_body_is_refused_on_every_route(hasty, route):
    with visiting(hasty) as client:
        assert slow_body(client, *route).status_code == (408 if route[0] == "POST" else 400)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_answers_its_own_page_and_guards_the_answer(client, method, path):
    response = ask(client, method, path)
    assert response.status_code == 200
    assert {(name.decode(), value.decode()) for name, value in HEADERS} <= set(response.headers.items())


FOREIGN = {  # what other programs on 127.0.0.1 keep in the same browser, before and behind ours
    "JSON": b'state={"open": [1, "a"], "b": null}',
    "brackets": b"session[id]=(1); {x}=<y>",
    "not ASCII": "name=Jürgen ✓".encode(),
    "Latin-1": b"name=J\xfcrgen",
    "no name": b"=1; alone; ;;",
    "an open quotation": b'q="never closed',
    "attributes": b"path=/; expires=never; $Version=1",
    "another explorer": b"linsep-1=AAAA",
    "long": b"; ".join(b"k%d=" % k + b"x" * 4000 for k in range(40)),
}


def _with_cookies(client, *headers):
    address = f"http://{client.base_url.netloc.decode()}/api/start"
    return httpx.get(address, headers=[(b"cookie", header) for header in headers], trust_env=False).status_code


@pytest.mark.parametrize("kind", FOREIGN)
def test_our_cookie_is_found_among_those_of_other_programs(client, kind):
    (name, value), foreign = next(iter(client.cookies.items())), FOREIGN[kind]
    ours, wrong = f"{name}={value}".encode(), f"{name}={'A' * len(value)}".encode()
    assert _with_cookies(client, foreign + b"; " + ours) == 200
    assert _with_cookies(client, ours + b"; " + foreign) == 200
    assert _with_cookies(client, foreign, ours) == 200
    assert _with_cookies(client, wrong + b";" + ours) == 200
    assert _with_cookies(client, foreign + b"; " + wrong) == 403
    assert _with_cookies(client, foreign + b'; x="' + ours + b'"') == 403


def test_the_exchange_sets_a_strict_cookie_and_drops_the_token(explorer):
    response = httpx.get(explorer.address)
    assert response.headers["location"] == "/"
    assert response.headers["set-cookie"].endswith("; HttpOnly; SameSite=Strict; Path=/")
    assert explorer.gate.token not in response.headers["set-cookie"]


def test_the_address_that_opens_the_browser_works_once(explorer):
    address = explorer.gate.address_for_once()
    assert explorer.gate.token not in address
    assert [httpx.get(address).status_code for _ in range(2)] == [303, 403]
    assert httpx.get(explorer.address).status_code == 303


@pytest.mark.parametrize("head", [b"", b"G", b"GET / HTTP/1.1\r\nHost: "])
def test_a_line_whose_head_does_not_come_is_closed(hasty, head):
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=10) as line:
        line.sendall(head)
        assert line.recv(1) == b""


def test_a_head_sent_letter_by_letter_is_not_waited_for(hasty):
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=10) as line:
        line.sendall(b"GET / HTTP/1.1\r\nX: ")
        stop = time.monotonic() + 10
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < stop:
                line.sendall(b"x")
                time.sleep(0.02)
        assert time.monotonic() < stop


def test_a_slow_second_request_on_the_same_line_is_refused_too(hasty):
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=10) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 403 " in line.recv(4096)
        line.sendall(b"GET / HTTP/1.1\r\nHost: ")
        line.settimeout(5)
        while line.recv(4096):
            pass  # the rest of the first answer; then the server hangs up, else this times out


def test_the_token_has_192_bits(explorer):
    assert len(explorer.gate.token) == 32  # of 6 bits each


def test_no_other_path_is_known(client):
    for path in (
        "/server.py",
        "/../server.py",
        "/page/../server.py",
        "/%2e%2e/server.py",
        "/api",
        "/api/",
        "/style.css/",
    ):
        assert client.get(path).status_code in (404, 307), path


BAD_BODIES = [
    b"",
    b"{",
    b"[]",
    b"NaN",
    b"[" * 10_000,
    b"1" * 5000,
    b'{"order": "sideways"}',
    b'{"order": ["cyclic"]}',
    b'{"bias": 1}',
    b'{"seed": -1}',
    b'{"seed": 1e400}',
    b'{"updates": 1000000000}',
    b'{"updates": true}',
    b'{"path": "/etc/passwd"}',
    b'{"points": [[0, 0]], "labels": [1]}',
]


@pytest.mark.parametrize("body", BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_a_bad_question_is_refused_with_a_reason(client, body):
    response = client.post("/api/run", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.json()["error"]


@pytest.mark.parametrize("body", [{"row": 30}, {"row": -1}, {"row": 1.0}, {"row": "0"}, {"row": True}, {}])
def test_a_row_that_is_not_there_is_refused(client, body):
    assert client.post("/api/row", json=body).status_code == 422


@pytest.mark.parametrize("update", [-1, 1.0, True, "3", 10**9])
def test_an_update_that_is_no_count_is_refused(client, update):
    assert client.post("/api/view", json={"columns": None, "update": update}).status_code == 422


@pytest.mark.parametrize("columns", [[0, 4], [0], [0, -1], "ab", [[0], 1]])
def test_columns_that_are_not_there_are_refused(client, columns):
    assert client.post("/api/view", json={"columns": columns}).status_code == 422


def test_a_port_in_use_is_named(explorer):
    with pytest.raises(ArgumentError, match=f"Port {explorer.port} cannot be used"):
        Explorer(port=explorer.port)


def test_it_listens_on_the_loopback_address_only(explorer):
    assert explorer.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.slow
def test_300_requests_50_at_a_time_are_all_answered(explorer):
    result = asyncio.run(storm(explorer, requests=300, at_a_time=50))
    assert result.statuses == {200: 300}


def test_an_answer_does_not_wait_for_the_network(client):
    best = min_of(100, time.perf_counter, lambda: client.post("/api/row", json={"row": 1}), 0.03)
    assert best < 0.03  # without TCP_NODELAY no answer comes before 40 ms


def min_of(most, clock, work, enough):
    """The least time of several, as other work on the machine only ever adds; no more once it is enough."""
    best = np.inf
    for _ in range(most):
        started = clock()
        work()
        best = min(best, clock() - started)
        if best < enough:
            break
    return best
