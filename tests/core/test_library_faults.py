"""Stores, tools and models that raise anything: a run ends with one clear line, or goes on."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.errors import KgotError, QueryError, Refused, StoreUnavailable, TransientToolError
from kgot_core.events import ToolCalled, ToolRetried
from kgot_core.run.record.folder import read_records

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened = _story["Story"], _story["quick"], _story["opened"]
QUESTION, ANSWER = _story["QUESTION"], _story["ANSWER"]


class Speechless(Exception):
    """Cannot even say what is wrong."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


ODD: list[Callable[[], BaseException]] = [
    lambda: ValueError("out of ink"),
    lambda: KeyError("name"),
    lambda: Speechless(),
    lambda: SystemExit(3),
    lambda: KeyboardInterrupt(),
    lambda: StopIteration("at the end"),
    lambda: asyncio.CancelledError(),
    lambda: GeneratorExit(),
    lambda: ExceptionGroup("several", [ExceptionGroup("more", [OSError(5, "broken")]), ValueError("x")]),
    lambda: KgotError("explained", hint="try again"),
    lambda: Refused("leased"),
    lambda: RecursionError("deep"),
]

NAMES = [type(make()).__name__ for make in ODD]


class Faulty(GraphBackend):
    """The real backend with one part that raises."""

    def __init__(self, context: OpenContext, part: str, make: Callable[[], BaseException]) -> None:
        from kgot_networkx.backend import NetworkxBackend
        from kgot_networkx.settings import NetworkxSettings

        self.inner = NetworkxBackend(NetworkxSettings(), context)
        self.dialect = self.inner.dialect
        self.closed = 0
        self.part = part
        self.make = make

    def _do(self, part: str, function: Callable[[], Any]) -> Any:
        if part == self.part:
            raise self.make()
        return function()

    def write(self, chain: str, call: Any) -> Any:
        return self._do("write", lambda: self.inner.write(chain, call))

    def query(self, statement: str, call: Any) -> Any:
        return self._do("query", lambda: self.inner.query(statement, call))

    def apply(self, change: Any, call: Any) -> None:
        self._do("apply", lambda: self.inner.apply(change, call))

    def snapshot(self) -> Any:
        return self._do("snapshot", self.inner.snapshot)

    def cancel(self) -> None:
        self._do("cancel", self.inner.cancel)

    def close(self) -> None:
        self.closed += 1
        self.inner.close()
        self._do("close", lambda: None)


async def solved(backend: Any = None, story: Any = None, **options: Any) -> Any:
    async with opened(story or quick(), options.pop("settings", {}), backend=backend, **options) as session:
        return await session.solve(QUESTION)


SOME = [(part, make) for part in ("open", "snapshot", "query") for make in ODD[:6:2]]


@pytest.mark.parametrize(
    ("part", "make"),
    [*(("write", make) for make in ODD), *SOME],
    ids=[*NAMES, *(f"{part}-{type(make()).__name__}" for part, make in SOME)],
)
async def test_a_backend_that_raises(part: str, make: Callable[[], BaseException], tmp_path: Path) -> None:
    made: list[Faulty] = []

    def open_backend(context: OpenContext) -> GraphBackend:
        if part == "open":
            raise make()
        made.append(Faulty(context, part, make))
        return made[-1]

    answer = await solved(open_backend, runs=tmp_path)
    assert answer.status == "failed" and answer.text == "The run failed"
    error = make()
    named = error.exceptions[0].exceptions[0] if isinstance(error, ExceptionGroup) else error
    assert type(named).__name__ in answer.reason or getattr(named, "message", "?") in answer.reason
    assert "\n" not in answer.reason
    assert [backend.closed for backend in made] == ([] if part == "open" else [1])
    assert list(read_records(tmp_path / answer.run))[-1]["answer"]["reason"] == answer.reason


@pytest.mark.parametrize("part", ["cancel", "close"])
@pytest.mark.parametrize("make", ODD[1:9], ids=NAMES[1:9])
async def test_a_backend_that_raises_when_it_is_given_back(part: str, make: Callable[[], BaseException]) -> None:
    made: list[Faulty] = []

    def open_backend(context: OpenContext) -> GraphBackend:
        made.append(Faulty(context, part, make))
        return made[-1]

    answer = await solved(open_backend)
    assert (answer.status, answer.text) == ("answered", ANSWER)
    assert [backend.closed for backend in made] == [1]
    failing = await solved(open_backend, quick(decide=ValueError("no")), settings={"loop.max_llm_attempts": 1})
    assert failing.status == "failed" and [backend.closed for backend in made] == [1, 1]


async def test_a_store_that_stays_away_ends_the_run_with_what_was_written_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds: slept(0))
    answer = await solved(lambda context: Faulty(context, "query", lambda: StoreUnavailable("connection refused")))
    assert answer.status == "failed" and "connection refused" in answer.reason and "run's folder" in answer.reason


async def test_a_statement_of_a_sloppy_store_is_mended_like_any_other() -> None:
    answer = await solved(lambda context: Faulty(context, "write", lambda: QueryError("line 1 is wrong", 1, 2)))
    assert answer.status == "answered" and answer.iterations > 0  # by facts, which need no statement


async def test_rows_that_are_no_json_are_recorded_as_text(tmp_path: Path) -> None:
    class Rows(Faulty):
        def query(self, statement: str, call: Any) -> Any:
            return [{"when": datetime.date(2020, 1, 2), "much": decimal.Decimal("1.5"), "odd": float("nan")}]

    answer = await solved(lambda context: Rows(context, "", ValueError), runs=tmp_path)
    assert answer.status == "answered"
    rows = [record["rows"] for record in read_records(tmp_path / answer.run) if record["kind"] == "graph_queried"]
    assert rows == [[{"when": "2020-01-02", "much": "1.5", "odd": "nan"}]]


@pytest.mark.parametrize("given", [lambda context: None, lambda context: "graph"])
async def test_what_is_no_backend(given: Any) -> None:
    answer = await solved(given)
    assert answer.status == "failed" and "not a GraphBackend" in answer.reason


# What ends the program is taken at its word where a coroutine raises it: the event loop hands it on at once.
ENDS_THE_PROGRAM = (KeyboardInterrupt, GeneratorExit, SystemExit)
TOOL_FAULTS = [
    pytest.param(kind, make, id=f"{name}-{kind}")
    for make, name in zip(ODD, NAMES, strict=True)
    for kind in ("plain", "coroutine")
    if kind == "plain" or not isinstance(make(), ENDS_THE_PROGRAM)
]


@pytest.mark.parametrize(("kind", "make"), TOOL_FAULTS)
async def test_a_tool_that_raises_is_a_failed_call(kind: str, make: Callable[[], BaseException]) -> None:
    def plain(place: str) -> str:
        """Fails."""
        raise make()

    async def coroutine(place: str) -> str:
        """Fails."""
        raise make()

    tool = plain if kind == "plain" else coroutine
    async with opened(Story(kind, {"place": "north"}, compute="NO"), tools=[tool]) as session:
        events = [event async for event in session.stream(QUESTION)]
    called = next(event for event in events if isinstance(event, ToolCalled))
    assert called.failed and called.text
    assert events[-1].answer["status"] == "answered"


async def test_a_tool_whose_error_may_pass_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = asyncio.sleep
    unasked = (lambda _: slept(0), lambda _: None)
    monkeypatch.setattr("kgot_core.run.desks.toolbox.ToolDesk.__init__.__defaults__", unasked)
    calls = []

    def flaky(place: str) -> str:
        """Works at the third attempt."""
        calls.append(place)
        if len(calls) < 3:
            raise TransientToolError("busy")
        return "Alderkop 700 m"

    async with opened(Story("flaky", {"place": "north"}, compute="NO"), tools=[flaky]) as session:
        events = [event async for event in session.stream(QUESTION)]
    assert len(calls) == 3 and sum(isinstance(event, ToolRetried) for event in events) == 2
    assert not next(event for event in events if isinstance(event, ToolCalled)).failed


async def test_a_model_that_raises_anything_is_a_failed_run() -> None:
    answer = await solved(story=quick(decide=MemoryError("no room")), settings={"loop.max_llm_attempts": 1})
    assert answer.status == "failed" and "no room" in answer.reason
