"""Slots and the runs that want them: never two runs in one slot, whoever gives up meanwhile, and none is lost."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.errors import KgotError
from kgot_core.pool.holding import SlotSource
from kgot_core.pool.leasing import Slots
from kgot_core.pool.state import Slot, SlotState
from kgot_core.providers import BackendProvider, Problem
from kgot_core.testing.memory_backend import MemoryBackend


class Given(SlotSource):
    """Slots that a test changes as it likes."""

    name = "the pool of a test"
    password = None

    def __init__(self, folder: Path, slots: int) -> None:
        self.folder = folder
        self.states: dict[str, SlotState] = {f"slot-{number}": "ready" for number in range(slots)}

    def slots(self) -> Sequence[Slot]:
        return [Slot(name, state, name, 1) for name, state in self.states.items()]

    def is_kept(self) -> bool:
        return False

    def refuse_gone(self) -> None:
        pass


def opened(settings: object, context: OpenContext) -> GraphBackend:
    return MemoryBackend(context)


def slots_of(source: Given, patience: float = 60.0) -> Slots:
    provider = BackendProvider(name="memory", summary="In memory.", open=opened)
    return Slots(provider, None, source, patience)


@given(st.integers(1, 3), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=10))
def test_a_slot_has_one_run_at_a_time_and_all_are_given_back(count: int, runs: list[tuple[int, int]]) -> None:
    """Each run holds its slot for some turns of the loop; one whose patience is short is cancelled before or then."""
    with tempfile.TemporaryDirectory() as folder:
        source = Given(Path(folder), count)
        inside: set[str] = set()
        served: list[str] = []

        async def use(slots: Slots, turns: int) -> None:
            async with slots.held() as hold:
                assert hold.slot.name not in inside
                inside.add(hold.slot.name)
                try:
                    for _ in range(turns):
                        await asyncio.sleep(0)
                finally:
                    inside.remove(hold.slot.name)
                served.append(hold.slot.name)

        async def everything() -> None:
            slots = slots_of(source)
            tasks = [asyncio.create_task(use(slots, turns)) for turns, _ in runs]
            for task, (_, patience) in zip(tasks, runs, strict=True):
                if patience < 3:
                    for _ in range(patience):
                        await asyncio.sleep(0)
                    task.cancel()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(one is None or isinstance(one, asyncio.CancelledError) for one in found)
            kept = sum(patience >= 3 for _, patience in runs)
            assert len(served) >= kept
            # What was given up is there for others: as many runs as slots get one at once.
            async with asyncio.TaskGroup() as group:
                for _ in range(count):
                    group.create_task(use(slots, 1))

        asyncio.run(everything())
        assert not inside and not list(Path(folder).glob("*.lease.json"))


async def test_a_run_waits_while_others_hold_and_gives_up_where_nothing_can_come(tmp_path: Path) -> None:
    source = Given(tmp_path, 1)
    slots = slots_of(source, patience=0.0)
    async with slots.held():
        other = asyncio.create_task(slots.held().__aenter__())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not other.done(), "a slot that is in use will be free"
    hold = await other
    hold.release()
    source.states["slot-0"] = "broken"
    with pytest.raises(KgotError, match=r"no slot of the pool of a test can be used; slot-0: its server is starting"):
        async with slots.held():
            pass


def test_a_server_that_refuses_runs_is_passed_over_and_named(tmp_path: Path) -> None:
    asked: list[object] = []

    def reach(settings: object, keep: bool) -> Problem | None:
        asked.append(settings)
        raise ZeroDivisionError("the driver is confused")

    provider = BackendProvider(name="memory", summary="In memory.", open=opened, reach=reach)
    with pytest.raises(KgotError, match=r"slot-0: it cannot be reached: ZeroDivisionError: the driver is confused"):
        Slots(provider, None, Given(tmp_path, 1), 0.0).check()
    assert len(asked) == 1 and not list(tmp_path.glob("*.lease.json"))
