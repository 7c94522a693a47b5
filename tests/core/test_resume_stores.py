"""A run that goes on where something outside was changed just before it was broken off: a store, or the world."""

from __future__ import annotations

import asyncio
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import OpenContext
from kgot_core.providers import ToolProvider
from kgot_core.testing.memory_backend import MemoryBackend, MemoryStore

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_breaking = runpy.run_path(str(FIXTURES / "breaking.py"))
_story = _breaking["_story"]
cut_off, begin, go_on = _breaking["cut_off"], _breaking["begin"], _breaking["go_on"]
place_of, whole, broken = _breaking["place_of"], _breaking["whole"], _breaking["broken"]
quick, opened = _story["quick"], _story["opened"]
QUESTION, ANSWER, ENHANCE = _story["QUESTION"], _story["ANSWER"], _story["ENHANCE"]


def sending(taken: list[str], reached: asyncio.Event) -> dict[str, Any]:
    """Offers a tool ``heights`` whose first call does not come to its end."""
    from langchain_core.tools import StructuredTool

    async def send(place: str) -> str:
        """Sends somebody there."""
        taken.append(place)
        if len(taken) == 1:
            reached.set()
            await asyncio.Event().wait()
        return "Alderkop 700 m, Birkfell 450 m"

    return {"tools": [StructuredTool.from_function(coroutine=send, name="heights")]}


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_a_writing_tool_that_was_broken_off_is_not_called_again_and_the_model_is_told(
    effect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ToolProvider
    monkeypatch.setattr("kgot_core.session.tools.providers.ToolProvider", lambda **given: made(**given, effect=effect))
    taken: list[str] = []
    reached = asyncio.Event()
    async with opened(quick(), **sending(taken, reached)) as session:
        running = asyncio.create_task(session.solve(QUESTION, folder=tmp_path / "run"))
        await asyncio.wait_for(reached.wait(), 30)
        running.cancel()
        await asyncio.wait({running})
    told: list[str] = []

    def extract(prompt: str) -> str:
        told.append(prompt)
        return str(_story["WRITE"])

    answer = await go_on(tmp_path / "run", quick(extract=extract), **sending(taken, reached))
    assert answer.text == ANSWER and len(taken) == (1 if effect == "write" else 2)
    assert ("may or may not have taken effect" in told[0]) is (effect == "write")


FACT = "```facts r1\n(Hill: Alderkop) height_m = 700\n(Hill: Birkfell) height_m = 450\n```"
FIND = "SOLVE\nIt is there.\n```facts\nFIND ?height\n(Hill: ?name) height_m = ?height\n```"


def kept(store: MemoryStore) -> dict[str, Any]:
    """Offers a store that outlives the process, as a server does."""

    def memory(context: OpenContext) -> MemoryBackend:
        return MemoryBackend(context, store)

    return {"backend": memory}


async def test_a_write_that_was_committed_but_not_recorded_is_there_once(tmp_path: Path) -> None:
    store = MemoryStore()
    story = quick(extract=FACT, decide=lambda prompt: FIND if "Alderkop" in prompt else ENHANCE)
    whole = await begin(tmp_path / "whole", story, {}, **kept(store))
    assert whole.status == "answered", whole
    [graph] = store.graphs.values()
    held = graph.snapshot()
    assert len(held.nodes) == 2
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "graph_written"))
    again = quick(extract=FACT, decide=lambda prompt: FIND if "Alderkop" in prompt else ENHANCE)
    await go_on(tmp_path / "run", again, {}, **kept(store))
    [graph] = store.graphs.values()
    assert graph.snapshot() == held
    assert (tmp_path / "run" / "answer.json").read_bytes() == (tmp_path / "whole" / "answer.json").read_bytes()


async def test_a_store_that_is_not_empty_is_not_overwritten(broken: Path, whole: Path, tmp_path: Path) -> None:
    class Full(MemoryBackend):
        def __init__(self, context: OpenContext) -> None:
            super().__init__(replace(context, scope=replace(context.scope, mode="keep"), resume=False), store)

    store = MemoryStore()
    story = quick(extract=FACT, decide=lambda prompt: FIND if "Alderkop" in prompt else ENHANCE)
    await begin(tmp_path / "whole", story, {}, **kept(store))
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "graph_written"))

    def memory(context: OpenContext) -> MemoryBackend:
        return Full(context)

    answer = await go_on(tmp_path / "run", quick(), {}, backend=memory)
    assert answer.status == "failed" and "the store holds 2 nodes already" in answer.reason
