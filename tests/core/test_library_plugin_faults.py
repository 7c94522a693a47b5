"""Plugins that fail in a session: a strategy, or a tool that cannot be made."""

from __future__ import annotations

import logging
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import KgotError
from kgot_core.run.record.folder import read_records

_sessions = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "sessions.py"))
answer_of, _story = _sessions["answer_of"], _sessions["_story"]
opened, quick, QUESTION = _story["opened"], _story["quick"], _story["QUESTION"]


PLUGIN = """
import asyncio
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import Outcome
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import StrategyProvider

class Odd(Strategy):
    async def run(self, run):
        {body}

def opening(settings):
    {opening}
    return Odd()

@hookimpl
def kgot_strategies():
    return [StrategyProvider(name="odd", summary="Odd.", open=opening, check=lambda settings: {check})]
"""


def strategy(folder: Path, body: str = "return None", opening: str = "pass", check: str = "None") -> dict[str, Any]:
    path = folder / "odd_strategy.py"
    path.write_text(PLUGIN.format(body=body, opening=opening, check=check))
    return {"plugins.load": [str(path)], "strategy": "odd"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('out of ideas')", "out of ideas"),
        ("raise SystemExit(3)", "SystemExit"),
        ("raise asyncio.CancelledError", "CancelledError"),
        ("return None", "Odd gave a NoneType"),
        ("return 'Paris'", "Odd gave a str"),
        ("return Outcome('Paris', 'perhaps')", "unknown status 'perhaps'"),
        ("return Outcome(3, 'answered')", "Odd"),
        ("return Outcome('Paris', 'answered', evidence=(7,))", "Odd"),
    ],
)
async def test_a_strategy_that_fails(body: str, reason: str, tmp_path: Path) -> None:
    answer = await answer_of(settings=strategy(tmp_path, body), runs=tmp_path / "runs")
    assert answer.status == "failed" and reason in answer.reason
    assert list(read_records(answer.folder))[-1]["answer"]["status"] == "failed"


async def test_a_strategy_of_ones_own(tmp_path: Path) -> None:
    body = "return Outcome('Paris', 'answered', value={'at': 1j, 'set': {1}})"
    answer = await answer_of(settings=strategy(tmp_path, body), runs=tmp_path / "runs")
    assert (answer.text, answer.status, answer.value) == ("Paris", "answered", {"at": "1j", "set": [1]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opening": "raise ValueError('no room')"}, "strategy odd cannot be opened: ValueError: no room"),
        ({"opening": "raise SystemExit(3)"}, "strategy odd cannot be opened: SystemExit: 3"),
        ({"check": "1 / 0"}, "its check failed: ZeroDivisionError"),
    ],
)
async def test_a_plugin_that_fails_when_a_session_opens_is_one_line(
    options: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(KgotError, match=message):
        await answer_of(settings=strategy(tmp_path, **options))


async def test_a_tool_that_cannot_be_made_is_left_out_with_its_cause(tmp_path: Path) -> None:
    path = tmp_path / "broken_tool.py"
    path.write_text(
        "from kgot_core.hookspecs import hookimpl\nfrom kgot_core.providers import ToolProvider, Problem\n"
        "def create(settings, context):\n    raise SystemExit('no camera')\n"
        "@hookimpl\ndef kgot_tools():\n    return [ToolProvider(name='photo', summary='A.', create=create),"
        " ToolProvider(name='phone', summary='B.', create=create, check=lambda settings: 1 / 0)]\n"
    )
    async with opened(settings={"plugins.load": [str(path)]}) as session:
        events = [event async for event in session.stream(QUESTION)]
    left_out = next(event for event in events if event.kind == "tools_opened").left_out
    assert "no camera" in left_out["photo"] and "ZeroDivisionError" in left_out["phone"]
    assert events[-1].answer["status"] == "answered"


async def test_the_trace_of_a_fault_goes_to_the_log_of_the_library_alone(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with caplog.at_level(logging.ERROR):
        await answer_of(settings=strategy(tmp_path, "raise ValueError('out of ideas')"))
    assert [record.name.partition(".")[0] for record in caplog.records] == ["kgot_core"]
    assert "odd_strategy.py" in caplog.text
    assert capfd.readouterr() == ("", "")
