"""Graphs from files and runs, and into files: which format a name means, and what is refused."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import PluginError, UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.losses import Losses
from kgot_core.plugins import PluginRegistry
from kgot_core.session.graphs import read_graph, write_graph
from kgot_core.testing.graphs import RARE_LISTS, RARE_VALUES, Vocabulary, differences, make_graph

STORY = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
GRAPH = GraphSnapshot(
    (Node("n1", ("Hill",), {"name": "Alderkop"}), Node("n2", (), {}, "<urn:x>", inferred=True)),
    (Edge("e1", "NEAR", "n1", "n2", {"km": 2**70}),),
)


@pytest.fixture
def registry() -> PluginRegistry:
    made = PluginRegistry()
    made.load()
    return made


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run."""
    folder = tmp_path_factory.mktemp("runs")

    async def make() -> None:
        async with STORY["opened"](runs=folder) as session:
            await session.solve(STORY["QUESTION"])

    asyncio.run(make())
    return folder


def test_a_run_is_read_by_path_id_beginning_and_last(registry: PluginRegistry, runs: Path) -> None:
    (folder,) = runs.iterdir()
    names = (str(folder), folder.name, folder.name[:-3], "last")
    graphs = [read_graph(registry, name, runs) for name in names]
    assert graphs[0].nodes and all(graph == graphs[0] for graph in graphs)


def test_a_snapshot_comes_back_with_everything(registry: PluginRegistry, tmp_path: Path) -> None:
    words = Vocabulary(values={**RARE_VALUES, **RARE_LISTS})
    for number, graph in enumerate([GRAPH, GraphSnapshot(), *(make_graph(seed, words) for seed in range(30))]):
        file = str(tmp_path / f"{number}.json")
        losses = Losses()
        write_graph(registry, graph, file, losses=losses)
        assert differences(graph, read_graph(registry, file, tmp_path, losses=losses), keys=True) == []
        assert not losses


def refusal(registry: PluginRegistry, name: Any, **options: Any) -> tuple[str, str]:
    with pytest.raises((UsageError, PluginError)) as caught:
        read_graph(registry, str(name), Path("/nonexistent"), **options)
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is no snapshot: it is nested too deeply"),
        ("[]", 'it has no "version" and "nodes"'),
        ('{"version": 1}', 'it has no "version" and "nodes"'),
        ('{"version": 2, "nodes": []}', "a snapshot of version 2; this kgot reads up to 1"),
        ('{"version": 1, "nodes": {}}', "node 1 is not an object"),
        ('{"version": 1, "nodes": [{"labels": []}]}', 'node 1 has no text "id"'),
        ('{"version": 1, "nodes": [{"id": "a", "labels": "Hill"}]}', 'node 1 has "labels" that are no list'),
        ('{"version": 1, "nodes": [{"id": "a", "properties": []}]}', 'node 1 has "properties" that are no object'),
        ('{"version": 1, "nodes": [{"id": "a", "properties": {"x": null}}]}', "null is not a property value"),
        ('{"version": 1, "nodes": [{"id": "a", "properties": {"x": {"@date": "soon"}}}]}', "soon"),
        ('{"version": 1, "nodes": [{"id": "a"}, {"id": "a"}]}', "'a' is empty or stands for two elements"),
        ('{"version": 1, "nodes": [], "edges": [{"id": "e"}]}', 'edge 1 has no text "type"'),
        (
            '{"version": 1, "nodes": [], "edges": [{"id": "e", "type": "T", "source": "a", "target": "b"}]}',
            "the edge e leads from or to a node that is not there",
        ),
        ('{"version": 1, "nodes": [{"id": "a", "labels": ["\\ud800"]}]}', "half a character"),
        (
            '{"version": 1, "nodes": [{"id": "a", "properties": {"x": {"@language": "\\ud800", "@text": ""}}}]}',
            "half a",
        ),
    ],
)
def test_a_file_that_is_no_snapshot_is_one_line(text: str, said: str, registry: PluginRegistry, tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text(text)
    message, _ = refusal(registry, file)
    assert said in message and str(file) in message and "\n" not in message


def test_what_is_not_there_or_not_text_is_one_line(registry: PluginRegistry, tmp_path: Path) -> None:
    assert refusal(registry, tmp_path / "no.json")[0].startswith("there is no file")
    assert refusal(registry, "no-run") == ("there is no run 'no-run' in /nonexistent", "kgot runs lists the runs")
    (tmp_path / "graph.xyz").write_text("")
    message, hint = refusal(registry, tmp_path / "graph.xyz")
    assert "says no format; known are" in message and ".json (snapshot)" in message and "--from" in hint
    (tmp_path / "latin.json").write_bytes(b'{"version": 1, "nodes": [{"id": "\xe9"}]}')
    assert "is not UTF-8 text" in refusal(registry, tmp_path / "latin.json")[0]
    message, hint = refusal(registry, tmp_path / "graph.xyz", format="snapshoot")
    assert hint == "did you mean snapshot?"


def test_a_format_whose_plugin_is_missing_names_the_package(tmp_path: Path) -> None:
    registry = PluginRegistry()
    registry.load(disabled=["kgot-rdf", "kgot-networkx", "kgot-neo4j"])
    bare = PluginRegistry()
    for ending, package in ((".ttl", "kgot-rdf"), (".graphml", "kgot-networkx"), (".neo4j.json", "kgot-neo4j")):
        file = tmp_path / f"graph{ending}"
        file.write_text("")
        assert f"{package} is disabled" in refusal(registry, file)[0]
        message, hint = refusal(bare, file)
        assert f"comes with {package}" in message and hint.startswith(f"pip install {package}")


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(registry: PluginRegistry, tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        write_graph(registry, GRAPH, str(file))
    assert file.read_text() == "mine"
    write_graph(registry, GRAPH, str(file), force=True)
    assert read_graph(registry, str(file), tmp_path) == GRAPH
    assert [path.name for path in tmp_path.iterdir()] == ["graph.json"], "nothing else may stay behind"
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        write_graph(registry, GRAPH, str(tmp_path / "no" / "graph.json"))


def test_a_plugin_brings_a_format(registry: PluginRegistry, tmp_path: Path) -> None:
    plugin = tmp_path / "names.py"
    plugin.write_text(
        "from kgot_core import UsageError, hookimpl\n"
        "from kgot_core.graph.elements import GraphSnapshot, Node\n"
        "from kgot_core.providers import FormatProvider\n\n"
        "def read(settings, path, losses):\n"
        "    if 'boom' in (text := path.read_text()):\n"
        "        raise LookupError('boom')\n"
        "    return GraphSnapshot(tuple(Node(line) for line in text.split()))\n\n"
        "def write(settings, graph, path, losses):\n"
        "    path.write_text('\\n'.join(node.id for node in graph.nodes))\n"
        "    for edge in graph.edges:\n"
        "        losses.add('an edge is left out', edge.id)\n\n"
        "@hookimpl\n"
        "def kgot_graph_formats():\n"
        "    return [FormatProvider(name='names', summary='Ids only.', suffixes=('.names', '.x.json'), read=read,"
        " write=write)]\n"
    )
    registry.load_extra(str(plugin))
    losses = Losses()
    write_graph(registry, GRAPH, str(tmp_path / "a.names"), losses=losses)
    assert losses.lines() == ["an edge is left out (e1)"]
    assert [node.id for node in read_graph(registry, str(tmp_path / "a.names"), tmp_path).nodes] == ["n1", "n2"]
    (tmp_path / "b.x.json").write_text("boom")
    assert "the format names cannot read" in refusal(registry, tmp_path / "b.x.json")[0]
