"""A run that is cancelled in any stage ends at once, is recorded as cancelled, and leaves nothing running."""

from __future__ import annotations

import asyncio
import contextlib
import json
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.run.record.folder import read_records

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened = _story["Story"], _story["quick"], _story["opened"]
QUESTION, SOLVE, ENHANCE = _story["QUESTION"], _story["SOLVE"], _story["ENHANCE"]
FOR_EVER = "```python r1\nwhile True:\n    pass\n```"
SECONDS = 5.0


class Stuck:
    """Stops a model's reply until the run is cancelled, and tells that it did."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def __call__(self, prompt: str) -> str:
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError("a cancelled request went on")


class Until(Sink):
    """Tells when an event of a kind has come."""

    def __init__(self, kind: str) -> None:
        self.reached = asyncio.Event()
        self._kind = kind

    def emit(self, record: Any) -> None:
        if record["kind"] == self._kind:
            self.reached.set()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Waits until every thread and process that a run started has ended."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("kgot-"):
            thread.join(SECONDS)
            assert not thread.is_alive(), f"{thread.name} is still there"
    assert _children() == set()


def _children() -> set[str]:
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found.add(Path(f"/proc/{child}/comm").read_text().strip())
    return {name for name in found if name in ("bwrap", "monty")}


async def cancelled(session: Any, reached: asyncio.Event, folder: Path, **options: Any) -> list[dict[str, Any]]:
    """Cancels a run once it has reached a place, and gives its record."""
    running = asyncio.create_task(session.solve(QUESTION, folder=folder, **options))
    await asyncio.wait_for(reached.wait(), 30)
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=SECONDS)
    assert done, "the run goes on"
    with pytest.raises(asyncio.CancelledError):
        running.result()
    records = list(read_records(folder))
    assert records[-1]["kind"] == "run_finished"
    assert records[-1]["answer"]["status"] == "cancelled"
    assert json.loads((folder / "answer.json").read_text()) == records[-1]["answer"]
    return records


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


class Told(GraphBackend):
    """The real backend, which tells when it is used."""

    def __init__(self, context: OpenContext, tell: Any) -> None:
        from kgot_networkx.backend import NetworkxBackend
        from kgot_networkx.settings import NetworkxSettings

        self.inner = NetworkxBackend(NetworkxSettings(), context)
        self.dialect = self.inner.dialect
        self.tell = tell
        self.closed = 0

    def write(self, chain: str, call: Any) -> Any:
        self.tell("write")
        return self.inner.write(chain, call)

    def query(self, statement: str, call: Any) -> Any:
        self.tell("query")
        return self.inner.query(statement, call)

    def apply(self, change: Any, call: Any) -> None:
        self.inner.apply(change, call)

    def snapshot(self) -> Any:
        return self.inner.snapshot()

    def cancel(self) -> None:
        self.inner.cancel()

    def close(self) -> None:
        self.closed += 1
        self.inner.close()


@pytest.mark.parametrize("sandbox", ["auto", "monty"])
@pytest.mark.parametrize("stage", ["open", "write", "query"])
async def test_while_the_store_is_busy(stage: str, sandbox: str, tmp_path: Path) -> None:
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()
    made: list[Told] = []

    def tell(what: str) -> None:
        if what == stage:
            loop.call_soon_threadsafe(reached.set)

    def make(context: OpenContext) -> GraphBackend:
        tell("open")
        made.append(Told(context, tell))
        return made[-1]

    endless = FOR_EVER.replace(" r1", "")
    decide = f"SOLVE\nIt is there.\n{endless}" if stage == "query" else ENHANCE
    async with opened(quick(extract=FOR_EVER, decide=decide), {"sandbox": sandbox}, backend=make) as session:
        await cancelled(session, reached, tmp_path / "run")
    for thread in threading.enumerate():
        if thread.name == "kgot-call":
            thread.join(SECONDS)
    assert [backend.closed for backend in made] == [1]


async def test_a_store_that_hangs_when_it_is_stopped_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgot_core.run.lifecycle.CLOSING_SECONDS", 0.2)
    reached, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    class Hung(Told):
        def write(self, chain: str, call: Any) -> Any:
            loop.call_soon_threadsafe(reached.set)
            go_on.wait(30)

        def cancel(self) -> None:
            go_on.wait(30)

    try:
        async with opened(quick(), backend=lambda context: Hung(context, print)) as session:
            await cancelled(session, reached, tmp_path / "run")
    finally:
        go_on.set()


async def test_a_store_that_raises_when_it_is_stopped_is_closed_all_the_same(tmp_path: Path) -> None:
    made: list[Told] = []
    stuck = Stuck()

    class Broken(Told):
        def cancel(self) -> None:
            raise SystemExit(3)

    def make(context: OpenContext) -> GraphBackend:
        made.append(Broken(context, lambda what: None))
        return made[-1]

    async with opened(quick(extract=stuck), backend=make) as session:
        await cancelled(session, stuck.reached, tmp_path / "run")
    assert [backend.closed for backend in made] == [1]


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
