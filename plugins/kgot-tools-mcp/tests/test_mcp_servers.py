"""Which servers there are: settings, a file as other programs have it, variables, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgot_tools_mcp.secrets import Scrubber
from kgot_tools_mcp.servers import Server, Unusable, find_servers
from kgot_tools_mcp.settings import McpSettings, ServerSettings


def found(settings: McpSettings, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Gives the settings of each server that can be used, and the errors of the others, by name."""
    return {
        one.name: one.settings if isinstance(one, Server) else str(one.error)
        for one in find_servers(settings, env or {})
    }


def of_file(folder: Path, data: Any) -> dict[str, Any]:
    """Gives what a file of servers holds."""
    path = folder / "mcp.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return found(McpSettings(file=str(path)))


def test_a_file_of_other_programs_is_read_and_what_is_theirs_passed_over(tmp_path: Path) -> None:
    servers = {
        "one": {
            "command": "npx",
            "args": ["-y", "one"],
            "env": {"KEY": "k"},
            "cwd": "work",
            "timeout": 60,
            "alwaysAllow": [],
        },
        "two": {"type": "http", "url": "https://example.org/mcp", "headers": {"X-Key": "k"}},
        "three": {"command": "x", "disabled": True},
        "four": {"type": "sse", "url": "https://example.org/sse"},
        "five": {"command": 5},
        "six": "npx",
    }
    for name in ("mcpServers", "servers"):
        read = of_file(tmp_path, {name: servers, "inputs": []})
        assert list(read) == ["five", "four", "one", "six", "two"]
        one = ServerSettings(command="npx", args=("-y", "one"), env={"KEY": "k"}, folder=str(tmp_path / "work"))
        assert read["one"] == one
        assert read["two"] == ServerSettings(url="https://example.org/mcp", headers={"X-Key": "k"})
        assert "it speaks sse, which is not supported" in read["four"]
        assert "command in its entry of tools.mcp.file is of another type" in read["five"]
        assert "its entry in tools.mcp.file is no table" in read["six"]


@pytest.mark.parametrize(
    ("data", "said"),
    [("{", "is not JSON"), ("[]", "names no servers"), ("{}", "names no servers"), ("[" * 99_999, "not JSON")],
)
def test_a_file_that_is_none_costs_only_its_own_servers(tmp_path: Path, data: str, said: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(data, encoding="utf-8")
    read = found(McpSettings(file=str(path), servers={"own": ServerSettings(command="x")}))
    assert said in read[""] and read["own"].command == "x"
    gone = found(McpSettings(file=str(tmp_path / "gone.json"), servers={"own": ServerSettings(command="x")}))
    assert "cannot be read" in gone[""] and gone["own"].command == "x"


def test_the_settings_go_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"one": {"command": "file"}, "two": {"command": "file"}}}', encoding="utf-8")
    read = found(McpSettings(file=str(path), servers={"one": ServerSettings(command="own")}))
    assert (read["one"].command, read["two"].command) == ("own", "file")


def test_variables_are_put_in_everywhere_and_only_secret_ones_are_hidden() -> None:
    settings = ServerSettings(
        command="${BIN}/server",
        args=("--root", "${env:ROOT}", "--token=${MY_TOKEN}", "${MISSING:-otherwise}", "$PLAIN ${"),
        env={"KEY": "${PHRASE}", "MODE": "production"},
        folder="${ROOT}",
    )
    env = {"BIN": "/opt/bin", "ROOT": "/data/docs", "MY_TOKEN": "token-abc-1", "PHRASE": "open sesame"}
    (server,) = find_servers(McpSettings(servers={"one": settings}), env)
    assert isinstance(server, Server)
    assert server.settings.command == "/opt/bin/server" and server.settings.folder == "/data/docs"
    assert server.settings.args == ("--root", "/data/docs", "--token=token-abc-1", "otherwise", "$PLAIN ${")
    assert dict(server.settings.env) == {"KEY": "open sesame", "MODE": "production"}
    assert server.scrubber.clean("/data/docs token-abc-1 open sesame") == "/data/docs [secret] [secret]"
    assert "sesame" not in repr(server) and "token-abc" in repr(server.settings.args)


def test_a_secret_is_hidden_without_its_scheme_and_in_json_too() -> None:
    scrubber = Scrubber(["Bearer abc-def-123", 'two "words"\nin lines', "true", "debug", "12345"])
    assert scrubber.clean("the key abc-def-123 of Bearer abc-def-123") == "the key [secret] of [secret]"
    assert json.loads(scrubber.clean(json.dumps({"a": 'two "words"\nin lines'}))) == {"a": "[secret]"}
    assert scrubber.clean("true debug 12345") == "true debug 12345"
    assert "abc" not in repr(scrubber)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ServerSettings(command="x", url="https://example.org"), "both a command and a url"),
        (ServerSettings(command="x", seconds=0), "seconds must be above 0, and 3600 at most"),
        (ServerSettings(command="x", seconds=9_999), "seconds must be above 0, and 3600 at most"),
        (ServerSettings(command="x", start_seconds=500), "start_seconds must be above 0, and 110 at most"),
        (ServerSettings(command="x", message_mb=0), "message_mb must be 1 at least"),
        (ServerSettings(url="https://example.org", headers={"A b": "c"}), "its header 'A b' cannot be sent"),
        (ServerSettings(url="https://example.org", headers={"A": "c\nHost: evil"}), "its header 'A' cannot be sent"),
    ],
)
def test_what_cannot_be_is_refused(settings: ServerSettings, said: str) -> None:
    (one,) = find_servers(McpSettings(servers={"one": settings}), {})
    assert isinstance(one, Unusable) and said in str(one.error)


def test_plain_http_is_for_this_machine_or_by_request() -> None:
    urls = ["http://localhost:8/mcp", "http://127.1.2.3/", "http://[::1]:8/", "https://example.org/"]
    read = found(McpSettings(servers={url: ServerSettings(url=url) for url in urls}))
    assert all(isinstance(one, ServerSettings) for one in read.values())
    allowed = ServerSettings(url="http://example.org/", plain_http=True)
    assert found(McpSettings(servers={"one": allowed}))["one"] == allowed
