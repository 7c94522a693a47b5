"""Graphs as GraphML and GEXF files, written and read by networkx."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from xml.etree import ElementTree

from kgot_core.errors import UsageError
from kgot_core.graph.elements import GraphSnapshot, Node
from kgot_core.graph.flat import MORE, TEXT, FlatForm, column_kinds
from kgot_core.graph.ids import Ids
from kgot_core.graph.losses import Losses, place
from kgot_core.graph.values import Value, plain_text, to_properties

if TYPE_CHECKING:
    import networkx as nx

T = TypeVar("T")
Forms: TypeAlias = tuple[FlatForm, FlatForm]
_GivenEdge: TypeAlias = tuple[Any, Any, Any, Mapping[str, Any]]
# What XML has no way to write, and the line end that every parser turns into another.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_MOST, _LEAST = 2**63 - 1, -(2**63)
# What networkx itself writes into other places of a GEXF file than the attributes.
_GEXF_NODE = frozenset(
    {"id", "label", "pid", "start", "end", "parents", "viz", "slices", "spells", "key", "networkx_key"}
)
_GEXF_EDGE = frozenset({"id", "type", "start", "end", "viz", "slices", "spells", "key", "networkx_key"})
_LONGEST = 200
_DEFAULTS = ("node_default", "edge_default")


def _kind(value: Any) -> str:
    """Gives the type that an attribute has in XML; empty where none gives the value back."""
    if isinstance(value, str):
        return "" if _NOT_IN_XML.search(value) else TEXT
    if isinstance(value, float):
        return "double" if abs(value) < float("inf") else ""
    if isinstance(value, bool):
        return "boolean"
    return "long" if isinstance(value, int) and _LEAST <= value <= _MOST else ""


def _named(but: frozenset[str] = frozenset()) -> Callable[[str], bool]:
    return lambda name: bool(name) and name not in but and bool(_kind(name))


def _any_kind(name: str, value: Value) -> bool:
    return bool(_kind(value))


_GRAPHML = FlatForm("labels", _any_kind, _named()), FlatForm("label", _any_kind, _named())


def _gexf(nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]) -> Forms:
    """Gives the forms for a graph: networkx gives an attribute one type."""

    def form(words: str, rows: Iterable[Mapping[str, Any]], but: frozenset[str]) -> FlatForm:
        kinds = column_kinds(rows, _kind) | {words: TEXT}
        if but is _GEXF_EDGE:
            kinds["weight"] = "double"  # an attribute of the edge itself, always read as such
        return FlatForm(words, lambda name, value: _kind(value) == kinds.get(name, TEXT), _named(but))

    return form("labels", nodes, _GEXF_NODE), form("label", edges, _GEXF_EDGE)


def write_graphml(settings: Any, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes GraphML; nothing is lost."""
    import networkx as nx

    nx.write_graphml(_built(graph, _GRAPHML), path)


def write_gexf(settings: Any, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes GEXF, with names as captions; nothing is lost."""
    import networkx as nx

    forms = _gexf((node.properties for node in graph.nodes), (edge.properties for edge in graph.edges))
    made = _built(graph, forms)
    for given, (key, data) in zip(graph.nodes, made.nodes(data=True), strict=True):
        data["label"] = _caption(given) or key
    for _, _, key, data in made.edges(keys=True, data=True):
        data["id"] = key
    nx.write_gexf(made, path)


def read_graphml(settings: Any, path: Path, losses: Losses) -> GraphSnapshot:
    """Reads GraphML of any program.

    Raises:
        UsageError: The file cannot be read.
    """
    import networkx as nx

    graphs = _tried(path, lambda: sum(child.tag.endswith("graph") for child in ElementTree.parse(path).getroot()))
    if graphs > 1:
        losses.add(f"only the first of {graphs} graphs is read")
    found = _tried(path, lambda: nx.read_graphml(path, edge_key_type=str, force_multigraph=True))
    edges = [(source, target, key, data) for source, target, key, data in found.edges(keys=True, data=True)]
    return _taken(found, edges, path, losses, _GRAPHML)


def read_gexf(settings: Any, path: Path, losses: Losses) -> GraphSnapshot:
    """Reads GEXF of any program. A node's caption is its name, where it has no other.

    Raises:
        UsageError: The file cannot be read.
    """
    import networkx as nx

    found = _tried(path, lambda: nx.read_gexf(path))
    captions = [str(data.pop("label", None) or key) for key, data in found.nodes(data=True)]
    edges = [(source, target, data.pop("id", ""), data) for source, target, data in found.edges(data=True)]
    forms = _gexf((data for _, data in found.nodes(data=True)), (data for *_, data in edges))
    graph = _taken(found, edges, path, losses, forms)
    nodes = [_captioned(node, caption, losses) for node, caption in zip(graph.nodes, captions, strict=True)]
    return GraphSnapshot(tuple(nodes), graph.edges)


def _captioned(node: Node, caption: str, losses: Losses) -> Node:
    if caption in (node.id, _caption(node)):
        return node
    if "name" in node.properties:
        losses.add("a node's caption is left out where it has a name", place(node))
        return node
    return replace(node, properties={"name": caption, **node.properties})


def _caption(node: Node) -> str:
    text = plain_text(node.properties.get("name", ""))
    return text if _kind(text) else ""


def _built(graph: GraphSnapshot, forms: Forms) -> nx.MultiDiGraph:
    import networkx as nx

    made = nx.MultiDiGraph()
    ids = Ids()
    given = {element.id: ids.give(element.id if _named()(element.id) else "", "n") for element in graph.elements()}
    for node in graph.nodes:
        made.add_nodes_from([(given[node.id], forms[0].row(node))])
    for edge in graph.edges:
        made.add_edges_from([(given[edge.source], given[edge.target], given[edge.id], forms[1].row(edge))])
    return made


def _taken(graph: Any, edges: Iterable[_GivenEdge], path: Path, losses: Losses, forms: Forms) -> GraphSnapshot:
    ids = Ids()
    for name in graph.graph.keys() - {*_DEFAULTS, "mode"}:
        losses.add("an attribute of the graph itself is left out", str(name))
    if not graph.is_directed():
        losses.add("the edges have no direction: each leads from its first node to its second")
    node_default, edge_default = (graph.graph.get(name, {}) for name in _DEFAULTS)
    nodes, made = {}, []
    for key, data in graph.nodes(data=True):
        row = _plain({**node_default, **data}, losses)
        nodes[key] = _tried(path, partial(forms[0].node, ids.give(str(key), "n"), row))
    for source, target, wanted, data in edges:
        row = _plain({**edge_default, **data}, losses)
        if not {forms[1].words, MORE} & row.keys() and isinstance(row.get("type"), str):
            row[forms[1].words] = row.pop("type")
        edge_id = ids.give(wanted if isinstance(wanted, str) else "", "e")
        made.append(_tried(path, partial(forms[1].edge, edge_id, nodes[source].id, nodes[target].id, row)))
    return GraphSnapshot(tuple(nodes.values()), tuple(made))


def _plain(data: Mapping[str, Any], losses: Losses) -> dict[str, Any]:
    """Leaves out what no property can hold, such as values that change over time."""
    row: dict[str, Any] = {}
    for name, value in data.items():
        try:
            row |= to_properties({name: value})
        except ValueError as error:
            losses.add("a value that no property can hold is left out", str(error))
    return row


def _tried(path: Path, function: Callable[[], T]) -> T:
    """Lets networkx read; whatever it raises on a file that is none becomes one line."""
    try:
        return function()
    except OSError:
        raise
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"{path} cannot be read: {text[:_LONGEST]}") from None
