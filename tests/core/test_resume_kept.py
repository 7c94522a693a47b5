"""Runs on a given or a kept graph that were broken off: what is asked again, and under which ids things are known."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.contracts.backend import Call, GraphBackend, GraphScope, OpenContext
from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node, snapshot_to_json
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.graph.same import pairing, unlike
from kgot_core.run.record.folder import read_records
from kgot_core.run.record.renamed import Renamed
from kgot_core.testing.memory_backend import MemoryBackend, MemoryStore

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_breaking = runpy.run_path(str(FIXTURES / "breaking.py"))
_story = _breaking["_story"]
cut_off, quick, opened = _breaking["cut_off"], _story["quick"], _story["opened"]
QUESTION, ENHANCE, SOLVE = (_story[name] for name in ("QUESTION", "ENHANCE", "SOLVE"))
HILLS = GraphSnapshot(
    (
        Node("h1", ("Hill",), {"name": "Alderkop", "height_m": 700}, key="Alderkop"),
        Node("h2", ("Hill",), {"name": "Birkfell", "height_m": 450}, key="Birkfell"),
    ),
    (Edge("x1", "HIGHER_THAN", "h1", "h2"),),
)
FIND = "```facts\nFIND ?name ?metres\n(Hill: ?name) height_m = ?metres\n```"
ASK = {"strategy": "ask_graph"}


class Renumbering(MemoryBackend):
    """A store that numbers its elements anew, in another order, whenever it is opened, as a server does."""

    def __init__(self, context: OpenContext, store: MemoryStore) -> None:
        super().__init__(context, store)
        old = self._graph.snapshot()
        ids = {element.id: f"{element.id[0]}{number}" for number, element in enumerate(reversed([*old.elements()]), 1)}
        self._graph.apply(GraphChange(removed=tuple(ids)))
        new = [_renamed(element, ids) for element in reversed([*old.nodes])] + [_renamed(e, ids) for e in old.edges]
        self._graph.apply(GraphChange(added=tuple(new)))


def _renamed(element: Element, ids: Mapping[str, str]) -> Element:
    if isinstance(element, Node):
        return Node(ids[element.id], element.labels, element.properties, element.key)
    return Edge(ids[element.id], element.type, ids[element.source], ids[element.target], element.properties)


def kept(store: MemoryStore, **settings: Any) -> dict[str, Any]:
    def memory(context: OpenContext) -> GraphBackend:
        return Renumbering(context, store)

    return {"backend": memory, "settings": {"graph.keep": True, **settings}}


def told(*hills: str) -> Any:
    """Writes one hill a round, and solves once all are there."""
    texts = {name: f"```facts r1\n(Hill: {name}) height_m = {number}00\n```" for number, name in enumerate(hills, 4)}

    def decide(prompt: str) -> str:
        return f"SOLVE\nIt is there.\n{FIND}" if hills[-1] in prompt else ENHANCE

    def extract(prompt: str) -> str:
        return next(text for name, text in texts.items() if name not in prompt)

    return quick(decide=decide, extract=extract, retrieve=FIND)


async def begin(folder: Path, story: Any, **given: Any) -> Any:
    async with opened(story, **given) as session:
        return await session.solve(QUESTION, folder=folder)


async def go_on(folder: Path, story: Any, **given: Any) -> Any:
    async with opened(story, **given) as session:
        return await session.resume(folder)


def place_of(folder: Path, kind: str, number: int = 1) -> int:
    """Gives how many events there are before the one of a kind with this number."""
    places = [at for at, record in enumerate(read_records(folder)) if record["kind"] == kind]
    return places[number - 1]


@pytest.mark.parametrize("source", ["file", "code"])
async def test_a_run_that_starts_from_a_graph_goes_on_without_it(source: str, tmp_path: Path) -> None:
    file = tmp_path / "hills.json"
    file.write_text(json.dumps(snapshot_to_json(HILLS)))
    third = '```python r1\nG.add_node("Cairnmoor", label="Hill", name="Cairnmoor", height_m=900)\n```'
    replies = {"extract": third, "decide": lambda prompt: SOLVE if "Cairnmoor" in prompt else ENHANCE}
    whole = await begin(tmp_path / "whole", quick(**replies), graph=file if source == "file" else HILLS)
    assert whole.status == "answered", whole
    file.unlink()
    for number in range(place_of(tmp_path / "whole", "graph_written") + 1, len(list(read_records(whole.folder)))):
        run = tmp_path / f"run {number}"
        cut_off(tmp_path / "whole", run, number)
        again = await go_on(run, quick(**replies))
        assert (run / "answer.json").read_bytes() == (whole.folder / "answer.json").read_bytes(), again


async def test_a_run_that_asks_a_graph_goes_on_without_it(tmp_path: Path) -> None:
    whole = await begin(tmp_path / "whole", quick(), settings=ASK, graph=HILLS)
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "model_called"))
    again = await go_on(tmp_path / "run", quick(), settings=ASK)
    assert (again.status, again.text) == ("answered", whole.text)


async def test_a_run_whose_graph_was_not_taken_in_yet_says_so(tmp_path: Path) -> None:
    await begin(tmp_path / "whole", quick(), graph=HILLS)
    for number, graph in enumerate(({}, {"graph": HILLS})):
        run = tmp_path / f"run {number}"
        cut_off(tmp_path / "whole", run, place_of(tmp_path / "whole", "graph_written"))
        answer = await go_on(run, quick(), **graph)
        assert answer.status == ("answered" if graph else "failed"), answer
        assert graph or "the record ends before the graph was taken in" in answer.reason


@pytest.mark.parametrize("cut", [1, 2])
async def test_a_run_on_a_kept_graph_goes_on_with_the_ids_that_it_knew(cut: int, tmp_path: Path) -> None:
    store = MemoryStore()
    first = await begin(tmp_path / "first", told("Elder Tor", "Fellside"), **kept(store))
    assert first.status == "answered", first
    before = store.graphs["kept"].snapshot()
    whole = await begin(tmp_path / "whole", told("Cairnmoor", "Dunmere"), **kept(store))
    assert whole.status == "answered" and len(store.graphs["kept"].nodes) == 4
    # As the store was when the second write of the run had not been made, or was just made.
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "graph_written", cut) + 1)
    names = [node.properties["name"] for node in before.nodes] + ["Cairnmoor", "Dunmere"][:cut]
    store.graphs["kept"] = TaskGraph(
        GraphSnapshot(tuple(n for n in store.graphs["kept"].nodes if n.properties["name"] in names))
    )
    again = await go_on(tmp_path / "run", told("Cairnmoor", "Dunmere"), **kept(store))
    assert again.status == "answered", again
    assert [item.element for item in again.evidence] == [item.element for item in whole.evidence]
    assert len(store.graphs["kept"].nodes) == 4
    written = [record for record in read_records(tmp_path / "run") if record["kind"] == "graph_written"]
    ids = [item["id"] for record in written for item in record["change"]["added"]]
    assert len({*ids, *(node.id for node in before.nodes)}) == 4


async def test_a_kept_graph_that_has_changed_since_is_left_alone(tmp_path: Path) -> None:
    store = MemoryStore()
    await begin(tmp_path / "whole", told("Elder Tor", "Fellside"), **kept(store))
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "graph_written", 2) + 1)
    store.graphs["kept"].apply(GraphChange(added=(Node("n77", ("Hill",), {"name": "Grey Stack"}),)))
    before = store.graphs["kept"].snapshot()
    answer = await go_on(tmp_path / "run", told("Elder Tor", "Fellside"), **kept(store))
    assert answer.status == "failed" and "is not as this run left it (1 elements differ)" in answer.reason
    assert "a new run with --keep-graph" in answer.reason
    assert not unlike(store.graphs["kept"].snapshot(), before)


async def test_a_stored_graph_is_asked_on(tmp_path: Path) -> None:
    store = MemoryStore()
    await begin(tmp_path / "first", told("Elder Tor", "Fellside"), **kept(store))
    whole = await begin(tmp_path / "whole", told("-"), **kept(store, **ASK))
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "model_called"))
    again = await go_on(tmp_path / "run", told("-"), **kept(store, **ASK))
    assert (again.status, again.evidence) == ("answered", whole.evidence)


NAMES = st.sampled_from("abc")


@st.composite
def graphs(draw: st.DrawFn) -> GraphSnapshot:
    nodes = [
        Node(f"n{number}", (draw(NAMES),), {"x": draw(st.integers(0, 1))}) for number in range(draw(st.integers(1, 6)))
    ]
    ends = st.sampled_from([node.id for node in nodes])
    drawn = draw(st.lists(st.tuples(NAMES, ends, ends), max_size=8))
    edges = [Edge(f"e{number}", kind, source, target) for number, (kind, source, target) in enumerate(drawn)]
    return GraphSnapshot(tuple(nodes), tuple(edges))


@settings(max_examples=150, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_a_graph_is_known_again_under_other_ids(graph: GraphSnapshot, random: Any) -> None:
    ids = [element.id for element in graph.elements()]
    new = dict(zip(ids, random.sample([f"m{number}" for number in range(len(ids))], len(ids)), strict=True))
    nodes = random.sample([*graph.nodes], len(graph.nodes))
    other = GraphSnapshot(
        tuple(_renamed(node, new) for node in nodes),  # type: ignore[arg-type, misc]
        tuple(_renamed(edge, new) for edge in graph.edges),  # type: ignore[arg-type, misc]
    )
    found = pairing(graph, other)
    assert found is not None
    back = [_renamed(element, found) for element in other.elements()]
    held = TaskGraph()
    held.apply(GraphChange(added=tuple(back)))
    assert not compare(graph, held.snapshot())


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_ids_are_translated_both_ways(graph: GraphSnapshot) -> None:
    store = MemoryStore({"g": TaskGraph(graph)})
    inner = Renumbering(OpenContext(GraphScope("g", "keep"), None), store)  # type: ignore[arg-type]
    found = pairing(graph, inner.snapshot())
    assert found is not None
    backend = Renamed(inner, found, ["n90"])
    assert not compare(graph, backend.snapshot())
    added = (Node("n6", ("new",)), Node("n91", ("new",)), Edge("e90", "new", "n0", "n91"))
    backend.apply(GraphChange(added, removed=tuple(edge.id for edge in graph.edges)), Call("1"))
    wanted = TaskGraph(graph)
    wanted.apply(GraphChange(added, removed=tuple(edge.id for edge in graph.edges)))
    assert not compare(wanted.snapshot(), backend.snapshot())
    change = backend.write("(New: thing) size = 1", Call("2"))
    assert change is not None
    wanted.apply(change)
    assert not compare(wanted.snapshot(), backend.snapshot()) and change.added[0].id not in (*wanted_ids(graph), "n90")


def wanted_ids(graph: GraphSnapshot) -> list[str]:
    return [element.id for element in graph.elements()]


def test_asking_is_refused_before_a_run_begins(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="there is no graph to ask"):
        asyncio.run(begin(tmp_path / "run", quick(), settings=ASK))
    assert not (tmp_path / "run").exists()
