"""Servers over streamable HTTP on loopback: calls, headers, what goes wrong, and who gets the headers."""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_tools_mcp.settings import ServerSettings

FIXTURES = Path(__file__).parent / "fixtures"
KEY = "Bearer key-of-the-sea-17"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Gives what runs a server."""
    monkeypatch.syspath_prepend(str(FIXTURES))
    spec = importlib.util.spec_from_file_location("web", FIXTURES / "web.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "web", module)
    spec.loader.exec_module(module)
    return module.serve


@pytest.fixture
def web(serve: Any) -> Iterator[Any]:
    """Runs a server."""
    with serve() as running:
        yield running


def only_cause(in_run: Any, **server: Any) -> str:
    """Gives the cause for which a server is left out of a run."""
    tools, left_out = in_run.opened(sea=ServerSettings(**server))
    assert tools == {} and list(left_out) == ["mcp sea"]
    return left_out["mcp sea"]


@pytest.mark.parametrize("json_response", [False, True])
def test_tools_of_an_address_are_called_with_its_headers(in_run: Any, serve: Any, json_response: bool) -> None:
    with serve(json_response) as web:
        web.key = KEY
        server = ServerSettings(url=web.url, headers={"Authorization": KEY})
        result = in_run.call("sea_ships_of", {"port": "Sarn"}, sea=server)
    assert (result.text, result.failed) == ("5", False)
    assert {headers["authorization"] for _, headers in web.asked} == {KEY}


def test_a_missing_key_is_told_with_the_setting(in_run: Any, web: Any) -> None:
    web.key = KEY
    cause = only_cause(in_run, url=web.url)
    assert (
        cause
        == "the MCP server sea answered 401 Unauthorized (set tools.mcp.servers.sea.headers, such as Authorization)"
    )


def test_a_wrong_key_is_not_told(in_run: Any, web: Any) -> None:
    web.key = KEY
    assert "wrong-key" not in only_cause(in_run, url=web.url, headers={"Authorization": "Bearer wrong-key-2"})


def test_a_wrong_path_is_told_with_the_setting(in_run: Any, web: Any) -> None:
    cause = only_cause(in_run, url=web.url.replace("/mcp", "/nowhere"))
    assert "answered 404" in cause and "see whether tools.mcp.servers.sea.url is right" in cause


def test_an_address_where_nobody_listens_is_told(in_run: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cause = only_cause(in_run, url=f"http://127.0.0.1:{port}/mcp")
    assert cause.startswith("the MCP server sea cannot be reached: ") and "sea.url is right" in cause


def test_a_page_that_is_no_server_is_told(in_run: Any, web: Any) -> None:
    web.page = "<html>It works!</html>"
    assert only_cause(in_run, url=web.url) == "the MCP server sea says: Unexpected content type: text/html"


def test_a_server_of_the_older_protocol_that_forgets_its_session_is_connected_anew(in_run: Any, web: Any) -> None:
    web.old = web.forgetful = True

    async def work(run: Run) -> ToolResult:
        return await run.tools.call("one", ToolCallRequest("sea_ships_of", {"port": "Orm"}))

    ended = in_run.work(work, sea=ServerSettings(url=web.url))
    assert (ended.result.text, ended.result.failed, web.forgetful) == ("3", False, False)
    (retried,) = [record for record in ended.records if record["kind"] == "tool_retried"]
    assert "the MCP server sea has ended the session" in retried["cause"]
    sessions = {headers["mcp-session-id"] for _, headers in web.asked if "mcp-session-id" in headers}
    assert len(sessions) == 2


@pytest.mark.parametrize("where", ["http://example.org/mcp", "http://10.0.0.7/mcp", "http://127.0.0.1.example.org/"])
def test_an_address_without_tls_on_another_machine_is_refused(in_run: Any, where: str) -> None:
    cause = only_cause(in_run, url=where)
    assert "has no TLS" in cause and "tools.mcp.servers.sea.plain_http = true" in cause


@pytest.mark.parametrize(
    "where", ["ftp://example.org/", "file:///etc/passwd", "example.org", "https://", "http://[::1"]
)
def test_what_is_no_http_address_is_refused(in_run: Any, where: str) -> None:
    assert "tools.mcp.servers.sea.url is no HTTP address" in only_cause(in_run, url=where)


def test_nobody_else_gets_the_headers_by_a_redirect(in_run: Any, serve: Any) -> None:
    with serve() as web, serve() as other:
        web.redirect = other.url
        cause = only_cause(in_run, url=web.url, headers={"Authorization": KEY})
    assert "not followed" in cause and other.url in cause
    assert web.asked and other.asked == []


def test_an_answer_above_the_limit_fails_and_the_next_call_works(in_run: Any, serve: Any) -> None:
    async def work(run: Run) -> tuple[ToolResult, ToolResult]:
        flood = await run.tools.call("flood", ToolCallRequest("sea_long_text", {"characters": 3 << 20}))
        return flood, await run.tools.call("next", ToolCallRequest("sea_ships_of", {"port": "Orm"}))

    for json_response in (True, False):
        with serve(json_response) as web:
            flood, after = in_run.work(work, sea=ServerSettings(url=web.url, message_mb=1)).result
        assert flood.failed and "the MCP server sea" in flood.text and "message_mb" in flood.text
        assert (after.text, after.failed) == ("3", False)
