"""A real Chromium: pages that are empty without JavaScript, and what it may not reach."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest

from kgot_tools_web.browser.rendering import Browser
from kgot_tools_web.session import WebSession
from kgot_tools_web.settings import WebSettings

SCRIPTED = """<!doctype html><title>Tides</title><div id=app></div><script>
fetch('/tides.json').then(r => r.json()).then(d => {
  const more = '<p>word </p>'.repeat(80)
  document.getElementById('app').innerHTML = '<h1>Tides</h1><p>High tide ' + d.high + '.</p>' + more
})</script>"""


@pytest.fixture
def browsing() -> dict[str, Any]:
    """Settings with the browser on; without a browser the test fails in CI, and is skipped elsewhere."""
    session = WebSession(WebSettings())
    problem = Browser(session.pages, session.cache, session.settings).problem()
    if problem and os.environ.get("CI"):
        pytest.fail(f"no browser: {problem}")
    if problem:
        pytest.skip(f"no browser: {problem}")
    return {"browser": "auto"}


def test_a_page_that_a_script_fills_is_read(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any]
) -> None:
    web.paths["/app"] = web_kit.Answer(SCRIPTED.encode())
    web.paths["/tides.json"] = web_kit.Answer(b'{"high": "14:05"}', "application/json")
    result = call("visit_page", more=browsing, url=f"{web.url}/app")
    assert "High tide 14:05." in result.text and "as a browser shows it" in result.text
    assert result.artifact.sources[0].address == f"{web.url}/app"
    again = call("visit_page", more=browsing, url=f"{web.url}/app")
    assert "14:05" in again.text and web.seen["/tides.json"] == 1, "it is kept on disk"


@pytest.mark.parametrize("opened", [False, True])
def test_the_browser_reaches_nothing_private(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any], opened: bool
) -> None:
    port = web.place.rpartition(":")[2]
    secret = f"http://localhost:{port}/secret"
    targets = (secret, f"http://[::1]:{port}/secret", "http://169.254.169.254/latest/", "file:///etc/passwd")
    tries = "".join(f"fetch('{target}', {{mode: 'no-cors'}}).catch(() => 0);" for target in targets)
    frame = f"<iframe src='{secret}'></iframe><img src='{secret}'>"
    script = f"<script>{tries}document.getElementById('a').innerText='ran'</script>"
    web.paths["/app"] = web_kit.Answer(f"<title>Trap</title><p id=a>x</p>{frame}{script}".encode())
    web.paths["/secret"] = web_kit.Answer(b"<p>secret</p>")
    more = {**browsing, "allow_hosts": (web.place, *([f"localhost:{port}"] if opened else []))}
    result = call("visit_page", more=more, url=f"{web.url}/app", browser=True)
    # Where the user opens the host it is reached, so it is the guard that keeps it closed otherwise.
    assert "ran" in result.text and bool(web.seen["/secret"]) is opened


WAYS_OUT = """
const made = (tag, values) => document.body.appendChild(Object.assign(document.createElement(tag), values));
const rels = ['preconnect', 'dns-prefetch', 'prefetch', 'preload', 'stylesheet', 'icon', 'manifest', 'prerender'];
const rules = JSON.stringify({{prefetch: [{{source: 'list', urls: ['{url}']}}]}});
const ice = [{{urls: 'stun:{place}'}}, {{urls: 'turn:{place}?transport=tcp', username: 'x', credential: 'x'}}];
const ways = [
  () => new WebSocket('ws://{place}/'), () => new EventSource('{url}'), () => navigator.sendBeacon('{url}', 'x'),
  () => new Worker('{url}'), () => new Audio('{url}').load(), () => {{ new Image().src = '{url}' }},
  () => navigator.serviceWorker.register('{url}').catch(() => 0), () => window.open('{url}'),
  ...rels.map(rel => () => made('link', {{rel, href: '{url}', as: 'fetch'}})),
  () => made('script', {{type: 'speculationrules', textContent: rules}}),
  ...['iframe', 'embed', 'object', 'video', 'img'].map(tag => () => made(tag, {{src: '{url}', data: '{url}'}})),
  () => made('a', {{href: 'about:blank', target: '_blank', ping: '{url}'}}).click(),
  () => {{
    const peer = new RTCPeerConnection({{iceServers: ice}});
    peer.createDataChannel('x');
    peer.createOffer().then(offer => peer.setLocalDescription(offer));
  }},
];
for (const way of ways) try {{ way() }} catch (error) {{ console.log(error) }}
document.getElementById('a').innerText = `tried ${{ways.length}}`;
"""


@pytest.mark.parametrize("opened", [False, True])
def test_no_way_out_of_a_page_reaches_this_machine(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any], opened: bool
) -> None:
    with (
        contextlib.closing(socket.socket()) as stream,
        contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as packets,
    ):
        stream.bind(("127.0.0.1", 0))
        packets.bind(stream.getsockname())
        stream.listen(100)
        place = f"127.0.0.1:{stream.getsockname()[1]}"
        script = WAYS_OUT.format(place=place, url=f"http://{place}/secret")
        web.paths["/app"] = web_kit.Answer(f"<title>Trap</title><body><p id=a>x</p><script>{script}</script>".encode())
        more = {**browsing, "allow_hosts": (web.place, *([place] if opened else []))}
        result = call("visit_page", more=more, url=f"{web.url}/app", browser=True)
        assert "tried 24" in result.text, result.text
        stream.setblocking(False)
        packets.setblocking(False)
        # Where the user opens the host it is reached, so it is the guard that keeps it closed otherwise.
        with contextlib.nullcontext() if opened else pytest.raises(BlockingIOError):
            stream.accept()[0].close()
        with pytest.raises(BlockingIOError):
            packets.recv(1)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/to", "http://localhost:{port}/secret"),
        ("/js", "http://localhost:{port}/secret"),
        ("/js", "file:///etc/passwd"),
    ],
)
def test_a_redirect_in_the_browser_is_guarded_too(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any], path: str, target: str
) -> None:
    where = target.format(port=web.place.rpartition(":")[2])
    web.paths["/to"] = web_kit.Answer(status=302, headers={"Location": where})
    web.paths["/js"] = web_kit.Answer(f"<title>x</title><script>location.href='{where}'</script>".encode())
    result = call("visit_page", more=browsing, url=f"{web.url}{path}", browser=True)
    assert "root:" not in result.text and web.seen[path] == 1 and web.seen["/secret"] == 0


def test_the_browser_keeps_to_robots_too(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any]
) -> None:
    web.paths["/robots.txt"] = web_kit.Answer(b"User-agent: *\nDisallow: /wiki/Alps", "text/plain")
    more = {**browsing, "robots": True}
    refused = call("visit_page", more=more, url=web.page_url("Alps"), browser=True)
    assert refused.failed and "robots.txt" in refused.text and web.seen["/wiki/Alps"] == 0
    assert not call("visit_page", more=more, url=web.page_url("Comics"), browser=True).failed


def test_a_page_that_grows_without_end_is_cut(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any]
) -> None:
    grow = "document.body.append('harbour '.repeat(1 << 19))"
    web.paths["/app"] = web_kit.Answer(f"<title>Grows</title><body><script>{grow}</script>".encode())
    result = call("visit_page", more=browsing, url=f"{web.url}/app", browser=True)
    assert not result.failed and "harbour" in result.text and "characters of the page were read" in result.text


def test_what_the_browser_was_let_into_is_not_given_to_another(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any]
) -> None:
    with web_kit.Loopback([], lambda *asked: {}) as intranet:
        script = f"fetch('{intranet.url}/secret').then(r => r.text()).then(t => document.body.append(t))"
        web.paths["/app"] = web_kit.Answer(f"<title>App</title><body>Open.<script>{script}</script>".encode())
        intranet.paths["/secret"] = web_kit.Answer(b"Nobody else.", headers={"Access-Control-Allow-Origin": "*"})
        both = {**browsing, "allow_hosts": (web.place, intranet.place)}
        for more, shown in ((both, True), (browsing, False)):
            text = call("visit_page", more=more, url=f"{web.url}/app", browser=True).text
            assert "Open." in text and ("Nobody else." in text) is shown
        assert intranet.seen["/secret"] == 1


def test_the_browser_gets_no_keys(
    call: Callable[..., Any], web: Any, web_kit: Any, browsing: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgot_tools_web.browser import rendering

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-ABC123DEF456")
    started: list[Any] = []
    real = rendering.asyncio.create_subprocess_exec

    async def recorded(*command: Any, **named: Any) -> Any:
        started.append((command, named["env"]))
        return await real(*command, **named)

    monkeypatch.setattr(rendering.asyncio, "create_subprocess_exec", recorded)
    assert not call("visit_page", more=browsing, url=web.page_url("Alps"), browser=True).failed
    assert started and "ABC123DEF456" not in str(started)


def test_without_a_browser_the_way_to_get_one_is_said(
    call: Callable[..., Any], web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "/nowhere")
    result = call("visit_page", more={"browser": "auto"}, url=web.page_url("Alps"), browser=True)
    assert result.failed and ("apt install chromium" in result.text or "kgot-tools-web[browser]" in result.text)
