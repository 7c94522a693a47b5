"""The handle on the graph store: order, limits, provenance, the user's schema."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphBackend
from kgot_core.errors import QueryError, StoreError, StoreUnavailable
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.schema import read_schema
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.run.desks.graph import GraphDesk
from kgot_core.run.desks.store import StoreCalls
from kgot_core.run.record.journal import Journal
from kgot_core.sinks.memory import MemorySink

LAKES = read_schema({"nodes": ["Lake", "River"], "edges": {"FEEDS": {"from": "Lake", "to": "River"}}})


class Opened:
    """A desk on a store, with the events that it leaves."""

    def __init__(self, store: GraphBackend, *, seconds: float = 20.0, ending: float = 20.0, schema: Any = None) -> None:
        self.sink = MemorySink()
        self.store = store
        calls = StoreCalls(store, seconds, pause=0.0, grace=0.0, ending=ending)
        state = TaskGraph(store.snapshot())
        self.desk = GraphDesk(
            Journal("run", None, [self.sink]), store.dialect, state, store, seconds, 100, schema, calls
        )

    @property
    def names(self) -> list[str]:
        return [node.key for node in self.desk.state.nodes]

    async def write(
        self, statement: str, step: str = "1/enhance/1", sources: Sequence[str] = ("model",)
    ) -> GraphChange:
        return await self.desk.write(step, statement, sources)


def lake(name: str, depth: int = 1) -> str:
    return f'NODE Lake "{name}" {{"depth_m": {depth}}}'


async def test_every_element_knows_where_it_came_from(kit: ModuleType) -> None:
    opened = Opened(kit.Words())
    await opened.write(f'{lake("A")}\n{lake("B")}\nEDGE "A" NEAR "B"', "1/enhance/x", ["1/enhance/tools/1"])
    await opened.write(lake("A", 2), "2/enhance/x", ["task"])
    await opened.desk.apply("3/enhance/x", GraphChange(added=(Node("f1", ("Lake",), {"name": "C"}),)), ["model"])
    by_name = {node.key: opened.desk.origin(node.id) for node in opened.desk.state.nodes}
    assert [(name, origin.sources, origin.iteration) for name, origin in by_name.items() if origin] == [
        ("A", ("1/enhance/tools/1", "task"), 1),
        ("B", ("1/enhance/tools/1",), 1),
        ("C", ("model",), 3),
    ]
    edge = opened.desk.origin(opened.desk.state.edges[0].id)
    assert edge is not None and edge.step == "1/enhance/x"
    assert opened.desk.origin("nobody") is None
    assert [item["iteration"] for item in opened.sink.records if item["kind"] == "graph_written"] == [1, 2, 3]


async def test_what_was_there_before_the_run_has_no_origin(kit: ModuleType) -> None:
    store = kit.Words()
    store.write(lake("A"), Call("before"))
    assert Opened(store).desk.origin("n1") is None


async def test_the_fault_of_a_statement_is_raised_and_recorded(kit: ModuleType) -> None:
    opened = Opened(kit.Words())
    with pytest.raises(QueryError) as caught:
        await opened.write(f"{lake('A')}\nMAKE it")
    assert (caught.value.line, caught.value.column) == (2, 1)
    assert opened.names == [] and opened.sink.records[0]["error"] == "unknown statement 'MAKE'"
    with pytest.raises(QueryError, match="unknown query"):
        await opened.desk.query("solve/1", "FIND it")


async def test_a_store_that_does_not_say_what_changed_is_compared(kit: ModuleType) -> None:
    store = kit.Words(returns_none=True, concurrency=3)
    opened = Opened(store)
    changes = await side_by_side(opened.write(lake(name), f"1/{name}", [name]) for name in "ABC")
    assert [[node.key for node in change.added] for change in changes] == [["A"], ["B"], ["C"]]
    origins = [opened.desk.origin(node.id) for node in opened.desk.state.nodes]
    assert [origin.sources for origin in origins if origin] == [("A",), ("B",), ("C",)]
    change = await opened.write('DROP "B"')
    assert change.removed == ("n2",) and opened.names == ["A", "C"]


def gated(kit: ModuleType, gate: Callable[[str], None], **settings: Any) -> Any:
    """A store whose writes wait for a gate."""

    class Gated(kit.Words):  # type: ignore[misc, name-defined]
        def write(self, chain: str, call: Call) -> GraphChange | None:
            gate(chain)
            with self.lock:
                return super().write(chain, call)  # type: ignore[no-any-return]

    store = Gated(**settings)
    store.lock = threading.Lock()
    return store


async def test_writes_side_by_side_take_effect_in_the_order_asked(kit: ModuleType) -> None:
    done = {name: threading.Event() for name in "ABC"}
    running = threading.Semaphore(0)

    def gate(chain: str) -> None:
        if '"Z"' in chain:
            return
        name = next(name for name in "ABC" if f'"{name}"' in chain)
        running.release()
        # Each waits for the one asked after it, so they end in the wrong order.
        after = {"A": "B", "B": "C"}.get(name)
        if after:
            assert done[after].wait(10)
        else:
            for _ in range(3):
                assert running.acquire(timeout=10)
        done[name].set()

    opened = Opened(gated(kit, gate, concurrency=3))
    await opened.write(lake("Z"))
    changes = await side_by_side(opened.write(lake(name), f"1/{name}") for name in "ABC")
    assert opened.names == ["Z", "A", "B", "C"]
    assert [change.added[0].properties["name"] for change in changes] == ["A", "B", "C"]
    assert [node.key for node in opened.store.snapshot().nodes] == ["Z", "C", "B", "A"]


async def test_writes_of_the_first_reply_run_side_by_side_once_the_first_of_them_is_done(kit: ModuleType) -> None:
    together = threading.Barrier(3)

    def gate(chain: str) -> None:
        if '"A"' not in chain:
            together.wait(10)

    opened = Opened(gated(kit, gate, concurrency=3))
    await side_by_side(opened.write(lake(name), f"1/{name}") for name in "ABCD")
    assert opened.names == ["A", "B", "C", "D"]


async def test_a_write_that_fails_beside_others_does_not_hold_them_up(kit: ModuleType) -> None:
    opened = Opened(kit.Words(concurrency=3))
    await opened.write(lake("Z"))
    results = await asyncio.gather(
        opened.write(lake("A"), "1/a"),
        opened.write("MAKE it", "1/b"),
        opened.write(lake("C"), "1/c"),
        return_exceptions=True,
    )
    assert isinstance(results[1], QueryError) and opened.names == ["Z", "A", "C"]


async def test_no_more_calls_run_at_once_than_the_store_allows(kit: ModuleType) -> None:
    inside, most = [], []

    def gate(chain: str) -> None:
        inside.append(chain)
        most.append(len(inside))
        inside.remove(chain)

    opened = Opened(gated(kit, gate, concurrency=1))
    await side_by_side(opened.write(lake(f"A{number}"), f"1/{number}") for number in range(10))
    assert max(most) == 1 and opened.names == [f"A{number}" for number in range(10)]


async def test_a_statement_over_its_time_is_cancelled_and_its_own_fault(kit: ModuleType) -> None:
    stopped = threading.Event()

    def gate(chain: str) -> None:
        if "SLOW" in chain:
            assert stopped.wait(20)
            raise QueryError("cancelled")

    store = gated(kit, gate)
    store.cancel = stopped.set
    opened = Opened(store, seconds=0.05)
    with pytest.raises(QueryError, match="took longer than"):
        await opened.write("SLOW")
    assert (await opened.write(lake("A"))).added and opened.names == ["A"]


async def test_a_statement_that_was_done_after_all_is_not_forgotten(kit: ModuleType) -> None:
    stopped = threading.Event()

    def gate(chain: str) -> None:
        assert stopped.wait(20)

    store = gated(kit, gate)
    store.cancel = stopped.set
    opened = Opened(store, seconds=0.05)
    await opened.write(lake("A"))
    assert opened.names == ["A"] == [node.key for node in store.snapshot().nodes]


async def test_a_store_that_does_not_end_a_statement_is_given_up(kit: ModuleType) -> None:
    never = threading.Event()
    opened = Opened(gated(kit, lambda chain: never.wait(20) and None), seconds=0.05, ending=0.05)
    with pytest.raises(StoreError, match="did not end a statement"):
        await opened.write(lake("A"))
    never.set()


@pytest.mark.parametrize(("failures", "works"), [(1, True), (2, True), (3, False)])
async def test_a_store_that_is_away_is_tried_again(kit: ModuleType, failures: int, works: bool) -> None:
    left = [failures]
    ids: list[str] = []

    class Away(kit.Words):  # type: ignore[misc, name-defined]
        def write(self, chain: str, call: Call) -> GraphChange | None:
            ids.append(call.id)
            if left[0]:
                left[0] -= 1
                raise StoreUnavailable("the server is away")
            return super().write(chain, call)  # type: ignore[no-any-return]

    opened = Opened(Away())
    if works:
        assert (await opened.write(lake("A"))).added
    else:
        with pytest.raises(StoreUnavailable, match="the server is away"):
            await opened.write(lake("A"))
    assert len(ids) == min(failures + 1, 3) and len(set(ids)) == 1


async def test_a_store_that_stays_away_ends_the_run_cleanly(kit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away(kit.Words):  # type: ignore[misc, name-defined]
        def write(self, chain: str, call: Call) -> GraphChange | None:
            raise StoreUnavailable("the server is away", hint="is it running?")

    monkeypatch.setattr("kgot_core.run.desks.store.ATTEMPTS", 1)
    done = await kit.solve(backend=Away())
    assert done.answer.status == "failed"
    assert done.answer.reason.startswith("the server is away (is it running?); what was written so far")


async def test_a_write_that_the_schema_does_not_allow_is_taken_back(kit: ModuleType) -> None:
    store = kit.Words(concurrency=3)
    opened = Opened(store, schema=LAKES)
    await opened.write(f'{lake("A")}\nNODE River "R"\nEDGE "A" FEEDS "R"')
    before = {element.id: element for element in store.snapshot().elements()}
    for statement in (
        f'{lake("B")}\nNODE Town "T"',
        f'DROP "R"\n{lake("A", 9)}\nNODE Town "T"',
        'EDGE "R" FEEDS "A"',
        'EDGE "A" NEAR "R"',
    ):
        with pytest.raises(QueryError, match=r"not allowed|starts at|leads to"):
            await opened.write(statement)
        assert {element.id: element for element in store.snapshot().elements()} == before
        assert {element.id: element for element in opened.desk.state} == before
    with pytest.raises(QueryError, match="the label Town is not allowed"):
        await opened.desk.apply("1/x", GraphChange(added=(Node("f1", ("Town",), {"name": "T"}),)), ["model"])
    await opened.desk.apply(
        "1/y", GraphChange(added=(Node("f2", ("Lake",), {"name": "C"}), Edge("f3", "FEEDS", "f2", "n2"))), ["model"]
    )
    assert opened.names == ["A", "R", "C"]


async def test_removing_a_node_tells_of_its_edges(kit: ModuleType) -> None:
    opened = Opened(kit.Words())
    await opened.write(f'{lake("A")}\n{lake("B")}\nEDGE "A" NEAR "B"')
    opened.desk.take_unseen()
    await opened.write('DROP "A"')
    assert set(opened.desk.take_unseen()) == {"n1", "e3"} and opened.desk.take_unseen() == ()
    assert opened.names == ["B"] and not opened.desk.state.edges
