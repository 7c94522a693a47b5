"""Servers that are no good: each costs its own tools, with one line that names it and the cause."""

from __future__ import annotations

import sys
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import KgotError
from kgot_tools_mcp.connection import Connection
from kgot_tools_mcp.servers import Server
from kgot_tools_mcp.settings import McpSettings, ServerSettings


def only_cause(in_run: Any, server: ServerSettings) -> str:
    """Gives the cause for which a server is left out of a run."""
    tools, left_out = in_run.opened(rogue=server)
    assert tools == {} and list(left_out) == ["mcp rogue"]
    return left_out["mcp rogue"]


def test_a_broken_server_costs_its_own_tools_alone(in_run: Any, program: Any) -> None:
    tools, left_out = in_run.opened(
        harbour=program("harbour.py", include=("ships_of", "long_*", "no_such"), exclude=("long_text",)),
        missing=ServerSettings(command="kgot-no-such-program"),
        neither=ServerSettings(),
        unset=program("harbour.py", env={"KEY": "${KGOT_TEST_NOT_SET}"}),
        off=ServerSettings(command="kgot-no-such-program", disabled=True),
    )
    assert list(tools) == ["harbour_ships_of"]
    assert left_out == {
        "mcp missing": "there is no program kgot-no-such-program (install it, or give tools.mcp.servers.missing.command"
        " with its whole path)",
        "mcp neither": "it has neither a command nor a url (set tools.mcp.servers.neither.command for a program, or"
        " tools.mcp.servers.neither.url for an address)",
        "mcp unset": "its env.KEY names the variable KGOT_TEST_NOT_SET, which is not set (set KGOT_TEST_NOT_SET, or"
        " write ${KGOT_TEST_NOT_SET:-default})",
        "mcp harbour, no_such": "the server has no such tool",
    }


def test_a_server_that_ends_at_once_is_told_with_its_last_words(in_run: Any, program: Any) -> None:
    cause = only_cause(in_run, program("rogue.py", "dies"))
    assert "the MCP server rogue has ended with exit code 2; the last it said: KeyError: 'the port is missing'" in cause


def test_a_server_that_says_nothing_is_given_up_in_time(in_run: Any, program: Any) -> None:
    cause = only_cause(in_run, program("rogue.py", "hang", start_seconds=1.5))
    assert "did not answer within 1.5 seconds" in cause and "tools.mcp.servers.rogue.start_seconds" in cause


def test_a_server_that_answers_no_messages_is_told_with_what_it_wrote(in_run: Any, program: Any) -> None:
    cause = only_cause(in_run, program("rogue.py", "garbage", start_seconds=6))
    assert "did not answer" in cause and "it wrote what is no message: <html>It works!</html>" in cause


@pytest.mark.parametrize("way", ["flood", "chatter"])
def test_a_server_that_writes_without_end_is_ended_at_the_limit(in_run: Any, program: Any, way: str) -> None:
    assert "sent more than 1 MiB at once" in only_cause(in_run, program("rogue.py", way, message_mb=1))


def test_a_folder_that_does_not_exist_is_named(in_run: Any, program: Any, tmp_path: Path) -> None:
    assert "its folder" in only_cause(in_run, program("harbour.py", folder=str(tmp_path / "nowhere")))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_a_server_that_does_not_leave_is_killed_with_its_children(program: Any, tmp_path: Path) -> None:
    mark = tmp_path / "processes"
    connection = Connection(Server("stubborn", program("rogue.py", "stubborn", str(mark))))
    assert connection.tools().result(60)
    processes = [int(text) for text in mark.read_text(encoding="utf-8").split()]
    assert all(is_alive(process) for process in processes)
    connection.close()
    assert [is_alive(process) for process in processes] == [False, False]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_a_run_that_ends_while_a_server_starts_leaves_no_process(program: Any) -> None:
    connection = Connection(Server("slow", program("rogue.py", "hang", start_seconds=100)))
    tools = connection.tools()
    while (process := connection.process) is None:
        assert not tools.done()
    assert is_alive(process)
    connection.close()
    with pytest.raises((CancelledError, KgotError)):
        tools.result(30)
    assert not is_alive(process)


def test_what_each_server_offers_or_lacks_is_told_to_the_user(program: Any) -> None:
    from kgot_tools_mcp.opening import parts

    good = program("harbour.py", include=("ships_of", "register_ship"))
    told = parts(McpSettings(servers={"harbour": good, "bad": ServerSettings(command="kgot-no-such-program")}))
    bad, harbour = told
    assert (bad.name, harbour.name) == ("bad", "harbour")
    assert "there is no program kgot-no-such-program" in bad.problem and "servers.bad.command" in bad.hint
    assert harbour.problem == "" and harbour.summary == "2 tools: harbour_ships_of, harbour_register_ship"


def is_alive(process: int) -> bool:
    """Tells whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
