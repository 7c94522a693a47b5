"""Whole runs with the tools of a real server: recorded, repeated without it, gone on with, and without its secrets."""

from __future__ import annotations

import json
import logging
import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import ReplayDiverged
from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.folder import read_records
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink

LIBRARY = Path(__file__).parents[3] / "tests" / "fixtures" / "library"
HARBOUR = Path(__file__).parent / "fixtures" / "harbour.py"
BREAKING = runpy.run_path(str(LIBRARY / "breaking.py"))
STORY = BREAKING["_story"]
QUESTION = STORY["QUESTION"]


def settings(**more: Any) -> dict[str, Any]:
    """Gives settings of a run that has the tools of one server and no others."""
    server = {"command": sys.executable, "args": [str(HARBOUR)], **more}
    return {"tools.enabled": ["mcp"], "tools.mcp.servers": {"harbour": server}}


def story(tool: str, **arguments: Any) -> Any:
    """Gives the replies of a model that calls a tool of the server once."""
    return STORY["Story"](f"harbour_{tool}", arguments, choose=None, compute="NO")


async def begin(folder: Path, told: Any, given: Mapping[str, Any]) -> Any:
    """Runs the story to its end."""
    async with STORY["opened"](told, given, tools=[]) as session:
        return await session.solve(QUESTION, folder=folder)


async def go_on(folder: Path, told: Any, given: Mapping[str, Any]) -> Any:
    """Goes on with a run."""
    async with STORY["opened"](told, given, tools=[]) as session:
        return await session.resume(folder)


def cut(whole: Path, to: Path, kind: str) -> None:
    """Copies a run as it was just before its first event of a kind."""
    kinds = [record["kind"] for record in read_records(whole)]
    BREAKING["cut_off"](whole, to, kinds.index(kind))


def only(folder: Path, kind: str) -> Mapping[str, Any]:
    """Gives the only event of a kind."""
    (found,) = [record for record in read_records(folder) if record["kind"] == kind]
    return found


def everything_below(folder: Path) -> bytes:
    """Gives the bytes of all files of a run."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def test_a_run_is_recorded_and_repeated_without_the_server(tmp_path: Path) -> None:
    answer = await begin(tmp_path / "run", story("chart_of", port="Orm"), settings())
    called = only(tmp_path / "run", "tool_called")
    assert answer.text == STORY["ANSWER"] and not called["failed"]
    assert "harbour_chart_of-1.png" in called["files"]
    assert {"address": "harbour://Orm/rules"}.items() <= called["sources"][0].items()
    registry, sink = PluginRegistry(), MemorySink()
    registry.load()
    repeated = await replay_run(registry, tmp_path / "run", env={}, sinks=[sink])
    assert repeated.text == answer.text
    assert BREAKING["course"](sink.records) == BREAKING["course"](list(read_records(tmp_path / "run")))


@pytest.mark.parametrize("kind", ["tool_called", "graph_written"])
async def test_a_run_goes_on_with_a_new_server_as_if_it_had_not_been_broken_off(tmp_path: Path, kind: str) -> None:
    given = settings()
    whole = await begin(tmp_path / "whole", story("chart_of", port="Orm"), given)
    cut(tmp_path / "whole", tmp_path / "broken", kind)
    answer = await go_on(tmp_path / "broken", story("chart_of", port="Orm"), given)
    assert answer.text == whole.text
    records = [list(read_records(tmp_path / name)) for name in ("whole", "broken")]
    assert BREAKING["course"](records[1]) == BREAKING["course"](records[0])


async def test_a_writing_call_in_doubt_is_not_made_again(tmp_path: Path) -> None:
    given = settings()
    await begin(tmp_path / "whole", story("register_ship", name="Vela"), given)
    assert only(tmp_path / "whole", "tool_called")["text"] == "Vela is number 1"
    cut(tmp_path / "whole", tmp_path / "broken", "tool_called")
    await go_on(tmp_path / "broken", story("register_ship", name="Vela"), given)
    called = only(tmp_path / "broken", "tool_called")
    assert called["failed"] and "may or may not have taken effect" in called["text"]


async def test_a_run_whose_server_offers_something_else_now_does_not_go_on(tmp_path: Path) -> None:
    await begin(tmp_path / "whole", story("chart_of", port="Orm"), settings())
    cut(tmp_path / "whole", tmp_path / "broken", "graph_written")
    broken = settings(command="kgot-no-such-program")
    with pytest.raises(ReplayDiverged, match="the tool harbour_ships_of of this run is not there any more"):
        await go_on(tmp_path / "broken", story("chart_of", port="Orm"), broken)


async def test_no_secret_of_a_server_is_recorded_or_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = {"KEY_ONE": "first-secret-1001", "KEY_TWO": "second-secret-2002", "KEY_THREE": "third-secret-3003"}
    monkeypatch.setenv("KGOT_TEST_PHRASE", secrets["KEY_TWO"])
    other = {"command": sys.executable, "args": [str(HARBOUR)], "env": {"KEY_THREE": secrets["KEY_THREE"]}}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"other": other}}), encoding="utf-8")
    given = settings(env={"KEY_ONE": secrets["KEY_ONE"], "KEY_TWO": "${KGOT_TEST_PHRASE}"})
    given |= {"tools.mcp.file": str(file)}
    for server in ("harbour", "other"):
        told = STORY["Story"](f"{server}_environment", {}, choose=None, compute="NO")
        await begin(tmp_path / server, told, given)
        text = only(tmp_path / server, "tool_called")["text"]
        assert "KEY_ONE" in text or "KEY_THREE" in text
    written = everything_below(tmp_path / "harbour") + everything_below(tmp_path / "other")
    for secret in secrets.values():
        assert secret.encode() not in written and secret not in caplog.text
    assert not set(secrets) & set(os.environ)


def test_the_command_line_shows_servers_and_no_secret(folder: Path) -> None:
    kgot = runpy.run_path(str(LIBRARY / "command.py"))["kgot"]
    lines = [
        "[tools.mcp.servers.harbour]",
        f"command = {json.dumps(sys.executable)}",
        f"args = [{json.dumps(str(HARBOUR))}]",
    ]
    lines += ['env = { HARBOUR_KEY = "very-secret-4711" }', 'include = ["ships_of"]']
    lines += ["[tools.mcp.servers.lost]", 'url = "http://127.0.0.1:9/mcp"', 'headers = { X-Who = "very-secret-4711" }']
    (folder / "kgot.toml").write_text("\n".join(lines), encoding="utf-8")

    refused = kgot("tools", "list")
    assert refused.exit_code == 2 and "kgot config trust" in refused.stderr
    assert "line 2: tools.mcp.servers.harbour.command" in refused.stderr
    assert kgot("config", "trust", "kgot.toml").exit_code == 0

    rows = {row["tool"]: row for row in json.loads(kgot("tools", "list", "--json").stdout)}
    assert rows["mcp harbour"]["state"] == "ready" and rows["mcp harbour"]["about"] == "1 tools: harbour_ships_of"
    assert rows["mcp lost"]["state"] == "not ready" and "cannot be reached" in rows["mcp lost"]["about"]
    found = {item["what"]: item for item in json.loads(kgot("doctor", "--json").stdout)}
    assert (found["tool mcp harbour"]["state"], found["tool mcp lost"]["state"]) == ("ok", "note")
    called = kgot("tools", "call", "harbour_ships_of", "port=Orm")
    assert (called.exit_code, called.stdout.strip()) == (0, "3")
    shown = kgot("config", "show")
    assert "tools.mcp.servers.harbour.env.HARBOUR_KEY" in shown.stdout
    wrong = kgot("tools", "list", "--set", "tools.mcp.servers.harbour.comand=x")
    assert wrong.exit_code == 2 and "did you mean tools.mcp.servers.harbour.command?" in wrong.stderr
    for result in (refused, called, shown, wrong, kgot("tools", "list"), kgot("doctor")):
        assert "very-secret" not in result.output
