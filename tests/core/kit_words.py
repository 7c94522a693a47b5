"""A store in memory with a language of its own, for tests in which the store does not matter."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kgot_core.contracts.backend import Call, GraphBackend, Row
from kgot_core.contracts.dialect import Dialect, QueryExample
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph

DIALECT = Dialect(
    language="Words",
    fence="words",
    guide='One statement a line: NODE Label "name" {"property": 1}, EDGE "name" TYPE "name", DROP "name".',
    write_examples=(
        'NODE Ferry "Grebe Ostrand" {"decks": 3}\nNODE Port "Quay Nimmel"',
        'EDGE "Grebe Ostrand" SERVES "Quay Nimmel"',
    ),
    query_examples=(
        QueryExample("How many decks has the Grebe Ostrand?", 'GET "Grebe Ostrand" decks', "3", ("Grebe Ostrand",)),
    ),
    invalid_example="NODE",
)
_NODE = re.compile(r'NODE (?P<label>\w+) "(?P<name>[^"]+)"(?P<rest>.*)')
_EDGE = re.compile(r'EDGE "(?P<source>[^"]+)" (?P<type>\w+) "(?P<target>[^"]+)"(?P<rest>.*)')


@dataclass
class Words(GraphBackend):
    """A store in memory with a language of its own, for tests in which the store does not matter.

    Attributes:
        returns_none: Writes leave it to the core to find out what changed.
        written: Statements that were run, failed ones too.
    """

    dialect: Dialect = DIALECT
    concurrency: int = 1
    returns_none: bool = False
    written: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    graph: TaskGraph = field(default_factory=TaskGraph)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    def write(self, chain: str, call: Call) -> GraphChange | None:
        """Runs lines of NODE, EDGE and DROP."""
        self.written.append(chain)
        nodes = {node.key: node for node in self.graph.nodes}
        known = set(nodes)
        edges: list[Edge] = []
        removed: list[str] = []
        for number, line in enumerate(chain.splitlines(), 1):
            if found := _NODE.fullmatch(line.strip()):
                properties = {"name": found["name"], **_json(found["rest"], number)}
                node = nodes.get(found["name"]) or Node(f"n{next(self.numbers)}", (found["label"],), {}, found["name"])
                nodes[node.key] = Node(node.id, node.labels, {**node.properties, **properties}, node.key)
            elif found := _EDGE.fullmatch(line.strip()):
                missing = [name for name in (found["source"], found["target"]) if name not in nodes]
                if missing:
                    raise QueryError(f"there is no node {missing[0]}", number, 1)
                ends = nodes[found["source"]].id, nodes[found["target"]].id
                edges.append(Edge(f"e{next(self.numbers)}", found["type"], *ends, _json(found["rest"], number)))
            elif line.startswith("DROP ") and (name := line[5:].strip(' "')) in nodes:
                removed.append(nodes.pop(name).id)
            else:
                raise QueryError(f"unknown statement {line.split(' ')[0]!r}", number, 1)
        new = [node for node in nodes.values() if node.key not in known]
        changed = [
            node for node in nodes.values() if node.key in known and not node.same_as(self.graph.get(node.id) or node)
        ]
        change = GraphChange((*new, *edges), tuple(changed), tuple(removed))
        self.graph.apply(change)
        return None if self.returns_none else change

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs one GET or NAMES."""
        self.asked.append(statement)
        words = re.findall(r'"[^"]*"|\S+', statement)
        nodes = {node.key: node for node in self.graph.nodes}
        match words:
            case ["GET", name, prop]:
                node = nodes.get(name.strip('"'))
                return [{prop: node.properties[prop]}] if node and prop in node.properties else []  # type: ignore[dict-item]
            case ["NAMES", label]:
                return [{"name": node.key} for node in nodes.values() if label in node.labels]
        raise QueryError(f"unknown query {statement.split(' ')[0]!r}", 1, 1)

    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes elements in; a node without a key is called by its name."""

        def keyed(element: Node | Edge) -> Node | Edge:
            if isinstance(element, Edge) or element.key:
                return element
            return replace(element, key=str(element.properties.get("name", element.id)))

        added, changed = (tuple(map(keyed, elements)) for elements in (change.added, change.changed))
        self.graph.apply(GraphChange(added, changed, change.removed))

    def snapshot(self) -> GraphSnapshot:
        """Gives the graph."""
        return self.graph.snapshot()

    def close(self) -> None:
        """Does nothing."""


def _json(text: str, line: int) -> dict[str, Any]:
    try:
        return dict(json.loads(text)) if text.strip() else {}
    except ValueError:
        raise QueryError("the properties are no JSON object", line, 1) from None
