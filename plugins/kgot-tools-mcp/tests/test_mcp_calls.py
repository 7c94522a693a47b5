"""Calls of the tools of a server that is a real program: results, failures, cancellation, one connection for all."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult


async def call(run: Run, name: str, step: str = "test", **arguments: Any) -> ToolResult:
    return await run.tools.call(step, ToolCallRequest(f"harbour_{name}", arguments))


def test_a_result_is_text_and_its_equal_structure_is_not_shown_twice(in_run: Any, program: Any) -> None:
    result = in_run.call("harbour_ships_of", {"port": "Orm"}, harbour=program("harbour.py"))
    assert (result.text, result.failed) == ("3", False)


def test_pictures_sound_and_resources_become_files_and_sources_of_the_run(in_run: Any, program: Any) -> None:
    async def work(run: Run) -> tuple[ToolResult, dict[str, bytes]]:
        result = await call(run, "chart_of", port="Orm")
        return result, {name: run.files.path(name).read_bytes() for name in result.artifact.files}

    result, files = in_run.work(work, harbour=program("harbour.py")).result
    assert files == {
        "harbour_chart_of-1.png": b"\x89PNG\r\n\x1a\n a picture",
        "harbour_chart_of-1.wav": b"RIFF horn",
        "harbour_chart_of-1.csv": b"hour,tide\n1,2\n",
    }
    for said in (
        "The chart of Orm:",
        "image kept as harbour_chart_of-1.png",
        "sound kept as harbour_chart_of-1.wav",
        "[harbour://Orm/rules]\nKeep to starboard.",
        "file harbour://Orm/tides.csv kept as harbour_chart_of-1.csv, text/csv, 14 bytes",
        "[link to pilots: https://harbour.example/pilots] Who",
        "image cannot be read: it is not base64",
    ):
        assert said in result.text
    assert {source.address for source in result.artifact.sources} == {
        "harbour://Orm/rules",
        "harbour://Orm/tides.csv",
        "https://harbour.example/pilots",
    }


def test_an_error_of_the_tool_is_a_failed_call_in_its_words(in_run: Any, program: Any) -> None:
    result = in_run.call("harbour_ships_of", {"port": "Nowhere"}, harbour=program("harbour.py"))
    assert result.failed and "there is no port Nowhere, only Orm, Sarn" in result.text


def test_wrong_arguments_are_told_before_the_server_is_asked(in_run: Any, program: Any) -> None:
    async def work(run: Run) -> list[str]:
        wrong = [{"port": 3}, {}, {"port": "Orm"}]
        return [run.tools.problem(ToolCallRequest("harbour_ships_of", arguments)) for arguments in wrong]

    number, missing, good = in_run.work(work, harbour=program("harbour.py")).result
    assert "3 is not of type 'string'" in number and "'port' is a required property" in missing and good == ""


def test_all_calls_of_a_run_share_one_process_that_ends_with_the_run(in_run: Any, program: Any) -> None:
    async def work(run: Run) -> list[dict[str, int]]:
        return [json.loads((await call(run, "process", mark, mark=mark)).text) for mark in ("one", "two")]

    first, second = in_run.work(work, harbour=program("harbour.py")).result
    assert (first["calls"], second["calls"]) == (1, 2) and first["process"] == second["process"]
    with pytest.raises(ProcessLookupError):
        os.kill(first["process"], 0)


def test_calls_run_side_by_side(in_run: Any, program: Any) -> None:
    async def work(run: Run) -> list[ToolResult]:
        return await asyncio.gather(*(call(run, "meet", who, who=who) for who in ("Odo", "Ada")))

    results = in_run.work(work, harbour=program("harbour.py", seconds=20)).result
    assert [result.text for result in results] == ["Ada and Odo"] * 2


def test_arguments_may_have_any_name(in_run: Any, program: Any) -> None:
    arguments = {"title": "a", "self": "b", "config": {"title": "c"}, "run_manager": "d", "name": "e"}
    assert in_run.call("harbour_take_note", arguments, harbour=program("harbour.py")).text == "a b title c d e"


def test_a_cancelled_call_is_cancelled_at_the_server(in_run: Any, program: Any, tmp_path: Path, told: Callable) -> None:
    mark = tmp_path / "mark.txt"

    async def work(run: Run) -> str:
        waiting = asyncio.create_task(call(run, "wait", mark=str(mark)))
        await told(mark, "begun")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await told(mark, "cancelled")
        return (await call(run, "ships_of", "after", port="Sarn")).text

    assert in_run.work(work, harbour=program("harbour.py")).result == "5"


def test_a_call_that_takes_too_long_fails_and_the_next_one_works(in_run: Any, program: Any, tmp_path: Path) -> None:
    async def work(run: Run) -> tuple[ToolResult, ToolResult]:
        slow = await call(run, "wait", "slow", mark=str(tmp_path / "mark.txt"))
        return slow, await call(run, "ships_of", "after", port="Sarn")

    slow, after = in_run.work(work, harbour=program("harbour.py", seconds=2)).result
    assert slow.failed and "did not answer within 2 seconds" in slow.text
    assert "tools.mcp.servers.harbour.seconds" in slow.text
    assert after.text == "5"


def test_a_reading_call_during_which_the_server_dies_is_made_again_on_a_new_one(
    in_run: Any, program: Any, tmp_path: Path
) -> None:
    async def work(run: Run) -> ToolResult:
        return await call(run, "die", mark=str(tmp_path / "died"))

    ended = in_run.work(work, harbour=program("harbour.py", env={"HARBOUR_KEY": "key-of-the-sea-17"}))
    assert (ended.result.text, ended.result.failed) == ("lives again", False)
    (retried,) = [record for record in ended.records if record["kind"] == "tool_retried"]
    assert "the MCP server harbour has ended with exit code 3" in retried["cause"]
    assert "the last it said: a wave came; the key was [secret]" in retried["cause"]


def test_a_writing_call_during_which_the_server_dies_is_not_made_again_but_the_next_call_works(
    in_run: Any, program: Any
) -> None:
    async def work(run: Run) -> tuple[ToolResult, ToolResult]:
        return await call(run, "sink", "first"), await call(run, "ships_of", "next", port="Orm")

    ended = in_run.work(work, harbour=program("harbour.py"))
    died, after = ended.result
    assert died.failed and "ended with exit code 3" in died.text and "connected anew for the next call" in died.text
    assert not [record for record in ended.records if record["kind"] == "tool_retried"]
    assert after.text == "3"


def test_a_server_gets_no_word_of_the_user_no_model_and_no_folder(in_run: Any, program: Any) -> None:
    ended = in_run.work(lambda run: call(run, "ask_back"), harbour=program("harbour.py"))
    assert ended.result.text.count("refused: ") == 3 and "given" not in ended.result.text
    assert ended.requests == []


def test_a_server_gets_a_minimal_environment_and_its_secrets_come_back_hidden(
    in_run: Any, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-servers")
    monkeypatch.setenv("HARBOUR_PASS", "let-me-in-4711")
    env = {"HARBOUR_KEY": "${HARBOUR_PASS}", "HARBOUR_ROOM": "room-77-north"}
    result = in_run.call("harbour_environment", {}, harbour=program("harbour.py", env=env))
    seen = json.loads(result.text)
    assert seen["HARBOUR_KEY"] == seen["HARBOUR_ROOM"] == "[secret]"
    assert set(seen) - {"HARBOUR_KEY", "HARBOUR_ROOM", "LC_CTYPE"} <= {
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "USER",
    }


def test_a_message_above_the_limit_ends_the_server_and_the_next_call_works(in_run: Any, program: Any) -> None:
    async def work(run: Run) -> tuple[ToolResult, ToolResult]:
        flood = await call(run, "long_text", "flood", characters=3 << 20)
        return flood, await call(run, "ships_of", "next", port="Orm")

    flood, after = in_run.work(work, harbour=program("harbour.py", message_mb=2)).result
    assert flood.failed and "sent more than 2 MiB at once" in flood.text and "message_mb" in flood.text
    assert after.text == "3"


def test_what_says_that_it_reads_is_a_reading_tool_and_all_else_writes(in_run: Any, program: Any) -> None:
    from kgot_tools_mcp.opening import create
    from kgot_tools_mcp.settings import McpSettings

    class Context:
        """What making tools needs of a run."""

        def __init__(self) -> None:
            self.ends: list[Any] = []
            self.at_end = self.ends.append

    context: Any = Context()
    tools = create(McpSettings(servers={"harbour": program("harbour.py")}), context)
    context.ends[0]()
    effects = {tool.name: (tool.metadata or {})["effect"] for tool in tools}
    assert effects["harbour_ships_of"] == "read" and effects["harbour_register_ship"] == "write"
