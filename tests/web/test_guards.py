"""Every route, every method, every attack: nothing gets past the guards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest
from starlette.routing import Route

from assay.web.app import ROUTES
from assay.web.guards import SIGN_IN, UPLOAD, RequestLimits

from .harness import HOST, ORIGIN, Harness

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
PATHS = sorted({re.sub(r"\{\w+\}", "abcdefgh12345678", route.path) for route in ROUTES})
# What is changed in a request that would be answered, and the status that it gets.
ATTACKS: dict[str, tuple[dict[str, str | None], int]] = {
    "a foreign host": ({"host": "evil.example:8710"}, 421),
    "a host that begins like ours": ({"host": "127.0.0.1.evil.example:8710"}, 421),
    "a host that ends like ours": ({"host": "evil.localhost:8710"}, 421),
    "a private address as a name": ({"host": "10.evil.example"}, 421),
    "another port": ({"host": "127.0.0.1:8711"}, 421),
    "no port": ({"host": "127.0.0.1"}, 421),
    "only a port": ({"host": ":8710"}, 421),
    "a user in the host": ({"host": "127.0.0.1:8710@evil.example"}, 421),
    "no host": ({"host": None}, 421),
    "a foreign origin": ({"origin": "http://evil.example"}, 403),
    "the origin of a file": ({"origin": "null"}, 403),
    "an origin of another scheme": ({"origin": f"https://{HOST}"}, 403),
    "an origin of another port": ({"origin": "http://127.0.0.1:8711"}, 403),
    "an origin with a path": ({"origin": f"{ORIGIN}/"}, 403),
    "another site": ({"sec-fetch-site": "cross-site"}, 403),
    "another port of this site": ({"sec-fetch-site": "same-site"}, 403),
    "nobody": ({"cookie": None}, 401),
    "a made-up session": ({"cookie": "assay-8710=AAAAAAAAAAAAAAAAAAAAAAAA"}, 401),
    "the session of another port": ({"cookie": "assay-9999=whatever"}, 401),
    "a broken cookie": ({"cookie": "assay-8710=\x01;;=\xff"}, 401),
    "a made-up token": ({"cookie": None, "authorization": "Bearer nonsense"}, 401),
    "the token as a password": ({"cookie": None, "authorization": "Basic bm9uc2Vuc2U="}, 401),
}


def changed(app: Harness, change: dict[str, str | None]) -> dict[str, str]:
    headers = {**app.signed_in, **change}
    return {name: value for name, value in headers.items() if value is not None}


@pytest.mark.sampled(11)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_route_and_no_method_lets_an_attack_through(app: Harness, attack: str) -> None:
    change, status = ATTACKS[attack]
    headers = changed(app, change)
    for path in PATHS:
        if path == SIGN_IN and status == 401:
            continue  # this is where one signs in
        for method in METHODS:
            answer = app.ask(method, path, headers=headers)
            assert answer.status == status, (method, path)
            assert "set-cookie" not in answer.headers


def test_without_an_attack_the_same_requests_get_past_the_guards(app: Harness) -> None:
    assert len(PATHS) > 30
    for path in PATHS:
        if path not in (SIGN_IN, UPLOAD, "/sign-out"):
            answer = app.ask("DELETE", path)
            assert answer.status in (404, 405), path


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_headers_that_browsers_heed(app: Harness, path: str) -> None:
    for headers in (app.signed_in, {"host": "evil.example"}):
        told = app.ask("OPTIONS", path, headers=headers).headers
        policy = told["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert told["x-content-type-options"] == "nosniff"
        assert told["referrer-policy"] == "same-origin"
        assert told["cache-control"]
        assert "access-control-allow-origin" not in told


def test_two_hosts_are_no_host(app: Harness) -> None:
    async def twice() -> int:
        sent: list[int] = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b""}

        async def send(message: dict[str, object]) -> None:
            sent.append(int(str(message.get("status", 0))))

        cookie = app.signed_in["cookie"].encode()
        headers = [(b"host", HOST.encode()), (b"host", b"evil.example"), (b"cookie", cookie)]
        scope = {"type": "http", "method": "GET", "path": "/about", "headers": headers}
        await app.app(scope, receive, send)
        return sent[0]

    assert app.runner.run(twice()) == 421


def test_a_browser_that_says_nothing_of_its_page_may_read_but_not_change(app: Harness) -> None:
    quiet = changed(app, {"origin": None, "sec-fetch-site": None})
    assert app.ask("GET", "/health", headers=quiet).status == 200
    assert app.ask("POST", "/sign-out", headers=quiet).status == 403
    by_token = {"host": HOST, "authorization": f"Bearer {app.access.token}"}
    assert app.ask("POST", "/audit.json", b"", headers=by_token).status == 422


def test_a_link_from_elsewhere_leads_on_to_all_of_its_address(app: Harness) -> None:
    headers = {**app.signed_in, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    del headers["origin"]
    answer = app.ask("GET", '/compare?run=a&run="><b>', headers=headers)
    assert answer.status == 403
    assert 'href="/compare?run=a&amp;run=&quot;&gt;&lt;b&gt;"' in answer.text
    elsewhere = app.ask("GET", "//evil.example/x", headers=headers).text
    assert 'href="/evil.example/x"' in elsewhere


def test_a_websocket_is_closed(app: Harness) -> None:
    sent: list[dict[str, object]] = []

    async def connect() -> None:
        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        await app.app({"type": "websocket", "headers": []}, None, send)  # type: ignore[arg-type]

    app.runner.run(connect())
    assert sent == [{"type": "websocket.close", "code": 1008}]


# -- signing in ------------------------------------------------------------------------------------


def test_a_link_signs_in_once_with_a_cookie_that_scripts_and_sites_do_not_get() -> None:
    with Harness() as app:
        link = f"{SIGN_IN}?link={app.access.new_link()}"
        outside = {"host": HOST}
        assert app.ask("HEAD", link, headers=outside).status == 401
        answer = app.ask("GET", link, headers=outside)
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
        session = {"host": HOST, "cookie": cookie.partition(";")[0]}
        assert app.ask("GET", "/health", headers=session).status == 200
        assert app.ask("GET", link, headers=outside).status == 401
        out = {**session, "origin": ORIGIN}
        assert app.ask("POST", "/sign-out", headers=out).status == 303
        assert app.ask("GET", "/health", headers=session).status == 401


def test_the_token_signs_in_by_the_form_and_by_a_header() -> None:
    with Harness() as app:
        typed = f"token={app.access.token}".encode()
        outside = {"host": HOST, "origin": ORIGIN}
        assert app.ask("POST", SIGN_IN, typed, headers=outside).status == 303
        assert app.ask("POST", SIGN_IN, b"token=nonsense", headers=outside).status == 401
        assert app.ask("POST", SIGN_IN, b"\xff=&", headers=outside).status == 401
        assert "password" in app.ask("GET", SIGN_IN, headers=outside).text
        header = {"host": HOST, "authorization": f"Bearer {app.access.token}"}
        assert app.ask("GET", "/health", headers=header).status == 200


def test_another_start_has_another_token_link_and_session() -> None:
    with Harness() as one, Harness() as other:
        assert one.access.token != other.access.token
        assert other.ask("GET", "/health", headers=one.signed_in).status == 401
        link = f"{SIGN_IN}?link={one.access.new_link()}"
        assert other.ask("GET", link, headers={"host": HOST}).status == 401


# -- limits ----------------------------------------------------------------------------------------


def endless() -> Iterator[bytes]:
    while True:
        yield bytes(1 << 16)


@pytest.mark.parametrize("path", ["/audit.json", UPLOAD])
def test_a_body_without_end_is_refused(path: str) -> None:
    with Harness(limits=RequestLimits(body=1 << 20, upload=1 << 20)) as app:
        assert app.post(path, endless()).status == 413
        length = {"content-length": str(1 << 21)}
        assert app.post(path, b"", **length).status == 413
        assert app.post(path, b"", **{"content-length": "-5"}).status == 413
        assert list(app.site.folder.iterdir()) == []


def test_whoever_has_not_signed_in_sends_little() -> None:
    with Harness() as app:
        outside = {"host": HOST, "origin": ORIGIN}
        assert app.ask("POST", SIGN_IN, endless(), headers=outside).status == 413
        assert app.ask("POST", SIGN_IN, b"token=" + b"x" * 5000, headers=outside).status == 413


def test_too_many_requests_at_once_are_told_to_come_back() -> None:
    with Harness(limits=RequestLimits(requests=3)) as app:

        async def many() -> list[int]:
            app.app.now = 3
            answer = await app.asking("GET", "/health")
            app.app.now = 0
            return [answer.status, int(answer.headers["retry-after"])]

        assert app.runner.run(many()) == [503, 5]
        assert app.get("/health").status == 200


def test_a_request_that_takes_too_long_is_ended() -> None:
    with Harness(limits=RequestLimits(seconds=0.05)) as app:

        async def slow(request: object) -> None:
            await asyncio.sleep(30)

        app.pages.router.routes.append(Route("/slow", slow))
        answer = app.get("/slow")
        assert (answer.status, "W503" in answer.text) == (503, True)


def test_an_error_of_ours_is_a_page_with_a_code_and_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Harness() as app:

        async def broken(request: object) -> None:
            raise RuntimeError("the secret of the house")

        app.pages.router.routes.append(Route("/broken", broken))
        answer = app.get("/broken")
        assert (answer.status, "W500" in answer.text) == (500, True)
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert "the secret of the house" in caplog.text


def test_refusals_are_json_for_programs(app: Harness) -> None:
    answer = app.get("/nowhere", accept="application/json")
    assert answer.json()["error"]["code"] == "W404"
    assert app.get("/judge/none.json").json()["error"]["code"] == "W404"
    assert "<h1>" in app.get("/nowhere").text
    assert len(app.get("/" + "a" * 30_000).body) < 2000
    assert len(app.get("/", host="a" * 30_000).body) < 2000
    assert '<a href="/">' in app.get("/judge/none").text


# -- paths -----------------------------------------------------------------------------------------

UPWARDS = (
    "..",
    "%2e%2e",
    "%252e%252e",
    "..\\",
    "..%5c",
    "..%2f",
    "%c0%ae%c0%ae",
    "....//",
    ".%00.",
)
TARGETS = ("/etc/passwd", "etc/passwd", "\\windows\\win.ini", "/proc/self/environ", "assay.db")
TRAVERSALS = [
    *(
        f"{('/'.join([up] * times))}/{target}"
        for up in UPWARDS
        for target in TARGETS
        for times in (1, 3, 8)
    ),
    *(f"{up * 4}{target}" for up in UPWARDS for target in TARGETS),
    *(
        "//evil.example/x",
        "\\\\evil\\share",
        "file:///etc/passwd",
        "http://evil.example/",
        "~/.ssh",
    ),
    *("C:\\x", "CON", "\0", "a\0b", ".", "..", "...", "", "sqlite:/etc/passwd?select 1", "-"),
]
PLACES = (
    "/assets/{}",
    "/results/{}",
    "/results/{}.json",
    "/judge/{}",
    "/judge/{}.json",
    "/jobs/{}",
    "/threshold/{}",
    "/measures/{}",
)


def test_no_route_takes_a_path(app: Harness) -> None:
    assert len(TRAVERSALS) >= 190
    for place in PLACES:
        for traversal in TRAVERSALS:
            answer = app.get(place.format(traversal.replace("?", "%3f")))
            assert answer.status in (404, 200 if traversal in ("", ".", "..") else 404), place
            assert b"root:" not in answer.body


def test_a_file_is_kept_under_a_harmless_name(app: Harness) -> None:
    from assay.web.site import safe_name

    for traversal in TRAVERSALS:
        name = safe_name(traversal)
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}", name), (traversal, name)
