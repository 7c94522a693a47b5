"""A run that is cancelled at any stage: it ends soon, nothing is left, and what it had is on disk."""

from __future__ import annotations

import asyncio
import runpy
import threading
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.sink import Sink
from kgot_core.run.record.folder import read_records

_cancelling = runpy.run_path(str(Path(__file__).with_name("kit_cancelling.py")))
SECONDS, Stuck, cancelled, nothing_is_left = (
    _cancelling[name] for name in ("SECONDS", "Stuck", "cancelled", "nothing_is_left")
)
_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened = _story["Story"], _story["quick"], _story["opened"]
QUESTION, ENHANCE = _story["QUESTION"], _story["ENHANCE"]


class Until(Sink):
    """Tells when an event of a kind has come."""

    def __init__(self, kind: str) -> None:
        self.reached = asyncio.Event()
        self._kind = kind

    def emit(self, record: Any) -> None:
        if record["kind"] == self._kind:
            self.reached.set()


@pytest.mark.parametrize("stage", ["decide", "choose", "extract", "compute", "parse", "ask_llm"])
async def test_while_a_model_is_asked(stage: str, tmp_path: Path) -> None:
    stuck = Stuck()
    story = (
        quick(**{stage: stuck}) if stage != "ask_llm" else Story("ask_llm", {"question": "How high?"}, ask_llm=stuck)
    )
    async with opened(story) as session:
        records = await cancelled(session, stuck.reached, tmp_path / "run")
    assert sum(record["kind"] == "run_finished" for record in records) == 1


@pytest.mark.parametrize("stage", ["retrieve", "direct", "repair"])
async def test_while_a_model_is_asked_for_another_way(stage: str, tmp_path: Path) -> None:
    stuck = Stuck()
    settings = {"loop.max_iterations": 1, "extract.form": "statements"}
    if stage == "direct":
        settings["solver"] = "direct"
    write = "```python r1\nG.add_node(\n```" if stage == "repair" else _story["WRITE"]
    async with opened(quick(decide=ENHANCE, extract=write, **{stage: stuck}), settings) as session:
        await cancelled(session, stuck.reached, tmp_path / "run")


async def test_while_a_plain_function_runs_as_a_tool(tmp_path: Path) -> None:
    reached, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(place: str) -> str:
        """Takes its time."""
        loop.call_soon_threadsafe(reached.set)
        go_on.wait(30)
        return "late"

    try:
        async with opened(Story("slow", {"place": "north"}), tools=[slow]) as session:
            records = await cancelled(session, reached, tmp_path / "run")
    finally:
        go_on.set()
    assert "tool_called" not in [record["kind"] for record in records]


async def test_while_a_coroutine_runs_as_a_tool(tmp_path: Path) -> None:
    reached = asyncio.Event()
    ended: list[str] = []

    async def slow(place: str) -> str:
        """Takes its time."""
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(place)
        return "late"

    async with opened(Story("slow", {"place": "north"}), tools=[slow]) as session:
        await cancelled(session, reached, tmp_path / "run")
    assert ended == ["north"]


@pytest.mark.parametrize("sandbox", ["auto", "monty"])
async def test_while_the_python_tool_runs(sandbox: str, tmp_path: Path) -> None:
    started = Until("tool_started")
    async with opened(Story(arguments={"code": "while True:\n    pass"}), {"sandbox": sandbox}) as session:
        await cancelled(session, started.reached, tmp_path / "run", sinks=[started])


@pytest.mark.parametrize("sandbox", ["auto", "monty"])
async def test_while_a_calculation_runs(sandbox: str, tmp_path: Path) -> None:
    reached = asyncio.Event()

    def compute(prompt: str) -> str:
        reached.set()
        return "```python\nwhile True:\n    pass\n```"

    async with opened(quick(compute=compute), {"sandbox": sandbox}) as session:
        await cancelled(session, reached, tmp_path / "run")


async def test_several_runs_are_cancelled_alone(tmp_path: Path) -> None:
    stuck = Stuck()

    def extract(prompt: str) -> Any:
        return stuck(prompt) if "(errand one)" in prompt else _story["WRITE"]

    async with opened(quick(extract=extract)) as session:
        other = asyncio.create_task(session.solve(f"{QUESTION} (errand two)"))
        running = asyncio.create_task(session.solve(f"{QUESTION} (errand one)"))
        await asyncio.wait_for(stuck.reached.wait(), 30)
        running.cancel()
        await asyncio.wait({running}, timeout=SECONDS)
        assert running.cancelled()
        assert (await asyncio.wait_for(other, 30)).status == "answered"


async def test_a_time_limit_of_the_caller(tmp_path: Path) -> None:
    stuck = Stuck()
    async with opened(quick(decide=stuck)) as session:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await session.solve(QUESTION, folder=tmp_path / "run")
    assert list(read_records(tmp_path / "run"))[-1]["answer"]["status"] == "cancelled"


async def test_while_parallel_tools_run_all_of_them_end(tmp_path: Path) -> None:
    from kgot_core.testing.scripted_model import Say

    reached = asyncio.Event()
    running: set[str] = set()

    async def slow(place: str) -> str:
        """Takes its time."""
        running.add(place)
        if len(running) == 3:
            reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            running.discard(place)
        return "late"

    calls = Say("", [("slow", {"place": place}) for place in ("a", "b", "c")])
    async with opened(quick(choose=calls), tools=[slow]) as session:
        await cancelled(session, reached, tmp_path / "run")
    assert running == set()


async def test_what_only_looks_like_a_cancellation_is_a_failure(tmp_path: Path) -> None:
    async def impatient(prompt: str) -> str:
        raise asyncio.CancelledError

    async with opened(quick(decide=impatient), {"loop.max_llm_attempts": 1}) as session:
        answer = await session.solve(QUESTION)
    assert answer.status == "failed" and "CancelledError" in answer.reason
