"""A run that is cancelled while its store is busy, hangs or raises."""

from __future__ import annotations

import asyncio
import runpy
import threading
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import GraphBackend, OpenContext

_cancelling = runpy.run_path(str(Path(__file__).with_name("kit_cancelling.py")))
SECONDS, Stuck, cancelled, nothing_is_left = (
    _cancelling[name] for name in ("SECONDS", "Stuck", "cancelled", "nothing_is_left")
)
Wrapped: Any = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "wrapped.py"))["Wrapped"]
_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
quick, opened = _story["quick"], _story["opened"]
ENHANCE = _story["ENHANCE"]
FOR_EVER = "```python r1\nwhile True:\n    pass\n```"


class Told(Wrapped):
    """The real backend, which tells when it is used."""

    def __init__(self, context: OpenContext, tell: Any) -> None:
        super().__init__(context)
        self.tell = tell

    def write(self, chain: str, call: Any) -> Any:
        self.tell("write")
        return super().write(chain, call)

    def query(self, statement: str, call: Any) -> Any:
        self.tell("query")
        return super().query(statement, call)


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
