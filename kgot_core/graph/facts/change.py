"""Turns facts into a change of the neutral graph, the same for every store."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kgot_core.graph.conflicts import Replaced
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.facts.index import NodeIndex, is_unknown
from kgot_core.graph.facts.merge import merge, spelled
from kgot_core.graph.facts.model import (
    EdgeFact,
    Fact,
    LineFault,
    LineProblem,
    Mention,
    NodeFact,
    PropertyFact,
    RemoveEdge,
    RemoveNode,
    RemoveProperty,
    mentions_of,
)
from kgot_core.graph.facts.names import THING, same_label, same_name
from kgot_core.graph.facts.show import show_fact
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import Properties, plain_text, same_value


@dataclass(frozen=True, slots=True)
class FactsResult:
    """What facts do to a graph.

    Attributes:
        change: The change; empty where nothing is new.
        problems: Facts that could not be applied, with the line they came from.
        replaced: Values that were replaced.
        lines: For each added, changed or removed element the numbers of the lines that it comes from.
    """

    change: GraphChange
    problems: tuple[LineProblem, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    lines: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)


def facts_to_change(facts: Iterable[Fact], graph: TaskGraph, new_id: Callable[[str], str]) -> FactsResult:
    """Finds the change that facts make to a graph. The graph itself is not touched.

    Things are found by label and name without regard to case and white space; new ones get the property ``name``,
    and the label ``Thing`` where theirs was left out. An edge that is there already is not added again, it takes
    the new properties in. Facts work in their order, so a later one corrects an earlier one.

    Args:
        facts: The facts.
        graph: The graph as it is.
        new_id: Makes a new id from ``"n"`` for a node or ``"e"`` for an edge.
    """
    facts = list(facts)
    builder = _Builder(graph, new_id, facts)
    problems: list[LineProblem] = []
    for fact in facts:
        try:
            builder.take(fact)
        except LineFault as fault:
            problems.append(LineProblem(fact.line, show_fact(fact), str(fault)))
    return FactsResult(builder.change(), tuple(problems), tuple(builder.replaced), builder.lines)


class _Builder:
    def __init__(self, graph: TaskGraph, new_id: Callable[[str], str], facts: Iterable[Fact]) -> None:
        self._graph = graph
        self._new_id = new_id
        self._nodes = NodeIndex(graph.nodes)
        self._names = {same_name(mention.name) for fact in facts for mention in mentions_of(fact)}
        self._edges = {edge.id: edge for edge in graph.edges}
        self._ends: dict[tuple[str, str], dict[str, None]] = {}
        for edge in graph.edges:
            self._ends.setdefault((edge.source, edge.target), {})[edge.id] = None
        self._touched: dict[str, None] = {}
        self._line = 0
        self.replaced: list[Replaced] = []
        self.lines: dict[str, tuple[int, ...]] = {}

    def take(self, fact: Fact) -> None:
        self._line = fact.line
        match fact:
            case NodeFact():
                self._node(fact.node)
            case PropertyFact():
                node = self._node(fact.node)
                self._put_node(node, self._merged(node.id, node.properties, {fact.key: fact.value}))
            case EdgeFact():
                self._add_edge(fact)
            case RemoveNode():
                self._drop_node(self._known(fact.node))
            case RemoveProperty():
                self._drop_property(fact)
            case RemoveEdge():
                self._drop_edge(fact)

    def change(self) -> GraphChange:
        added: list[Node | Edge] = []
        changed: list[Node | Edge] = []
        removed: list[str] = []
        present: dict[str, Node | Edge] = {node.id: node for node in self._nodes}
        present |= self._edges
        for element_id in self._touched:
            before, now = self._graph.get(element_id), present.get(element_id)
            if now is None:
                removed += [element_id] if before is not None else []
            elif before is None:
                added.append(now)
            elif not now.same_as(before):
                changed.append(now)
        added.sort(key=lambda element: isinstance(element, Edge))
        return GraphChange(tuple(added), tuple(changed), tuple(removed))

    def _touch(self, element_id: str) -> None:
        self._touched[element_id] = None
        lines = self.lines.get(element_id, ())
        if self._line not in lines:
            self.lines[element_id] = (*lines, self._line)

    def _node(self, mention: Mention) -> Node:
        """Gives the node that is meant, a new one where there is none."""
        mention = self._settled(mention)
        node = self._nodes.find(mention)
        if node is None:
            node = Node(self._new_id("n"), (mention.label or THING,), {"name": mention.name})
            self._nodes.put(node)
            self._touch(node.id)
        elif mention.label not in {"", THING} and is_unknown(node):
            node = dataclasses.replace(node, labels=(mention.label,))
            self._nodes.put(node)
            self._touch(node.id)
        return node

    def _settled(self, mention: Mention) -> Mention:
        """Decides whether what looks like a label is a part of the name, as in ``Alien: Covenant``."""
        if not mention.whole or self._nodes.knows(mention.name, mention.label):
            return mention
        if same_name(mention.whole) in self._names or self._nodes.knows(mention.whole):
            return Mention(mention.whole)
        return mention

    def _known(self, mention: Mention) -> Node:
        node = self._nodes.find(self._settled(mention))
        if node is None:
            raise LineFault(f"there is no {mention} in the graph")
        return node

    def _put_node(self, node: Node, properties: Properties) -> None:
        if properties is not node.properties:
            self._nodes.put(dataclasses.replace(node, properties=properties))
            self._touch(node.id)

    def _merged(self, element_id: str, old: Properties, new: Properties) -> Properties:
        properties, replaced = merge(element_id, old, new)
        self.replaced += replaced
        return properties

    def _add_edge(self, fact: EdgeFact) -> None:
        # Both ends are looked up before either is made, so that a line that cannot be applied leaves nothing.
        self._nodes.find(self._settled(fact.source))
        self._nodes.find(self._settled(fact.target))
        source, target = self._node(fact.source), self._node(fact.target)
        edge = next(iter(self._between(source, target, fact.type)), None)
        if edge is None:
            edge = Edge(self._new_id("e"), self._type(fact.type), source.id, target.id, dict(fact.properties))
            self._ends.setdefault((source.id, target.id), {})[edge.id] = None
        else:
            properties = self._merged(edge.id, edge.properties, fact.properties)
            if properties is edge.properties:
                return
            edge = dataclasses.replace(edge, properties=properties)
        self._edges[edge.id] = edge
        self._touch(edge.id)

    def _between(self, source: Node, target: Node, type_: str) -> list[Edge]:
        edges = [self._edges[edge_id] for edge_id in self._ends.get((source.id, target.id), ())]
        wanted = same_label(type_)
        return [edge for edge in edges if not edge.inferred and (not wanted or same_label(edge.type) == wanted)]

    def _type(self, type_: str) -> str:
        """Spells a type as the graph does already, where it does."""
        wanted = same_label(type_)
        return next((edge.type for edge in self._edges.values() if same_label(edge.type) == wanted), type_)

    def _drop_node(self, node: Node) -> None:
        for ends, edge_ids in list(self._ends.items()):
            if node.id in ends:
                for edge_id in list(edge_ids):
                    self._forget_edge(self._edges[edge_id])
        self._nodes.remove(node.id)
        self._touch(node.id)

    def _drop_property(self, fact: RemoveProperty) -> None:
        node = self._known(fact.node)
        key = spelled(fact.key, node.properties)
        if key not in node.properties:
            raise LineFault(f"{fact.node} has no {fact.key}")
        value = node.properties[key]
        if fact.value is not None and not same_value(value, fact.value):
            raise LineFault(f"its {key} is {plain_text(value)[:80]}")
        if len(node.properties) == 1:
            raise LineFault("a thing keeps its last property; delete the thing itself")
        self._put_node(node, {name: item for name, item in node.properties.items() if name != key})

    def _drop_edge(self, fact: RemoveEdge) -> None:
        source, target = self._known(fact.source), self._known(fact.target)
        edges = self._between(source, target, fact.type)
        if not edges:
            raise LineFault("there is no such edge in the graph")
        if len(edges) > 1 and not fact.type:
            raise LineFault("several edges join the two things, name the relation")
        for edge in edges:
            self._forget_edge(edge)

    def _forget_edge(self, edge: Edge) -> None:
        del self._edges[edge.id]
        del self._ends[(edge.source, edge.target)][edge.id]
        self._touch(edge.id)
