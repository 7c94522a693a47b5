"""What differs between Cypher, SPARQL and Python for the model: one value that the backend owns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from kgot_core.graph.elements import Edge, Element, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import JsonValue, Properties, encode, plain_text, sort_text
from kgot_core.graph.visible import visible

NameOf = Callable[[str], str]


@dataclass(frozen=True)
class QueryExample:
    """A question on the graph that the write examples build, with its query and its answer.

    Attributes:
        question: The question.
        query: The query that answers it.
        answer: The answer, as text; it stands in a row that the query returns.
        basis: Names of the nodes that the answer rests on.
    """

    question: str
    query: str
    answer: str
    basis: tuple[str, ...]


@dataclass(frozen=True)
class Dialect:
    """The language of a backend, as shown to the model.

    Every example is run by the conformance kit against the backend: writes one after another on one graph,
    then the queries, each of which must give at least one row; ``invalid_example`` must raise
    :class:`~kgot_core.errors.QueryError`. A subclass may change how elements are shown.

    Attributes:
        language: Name for the model, for example ``Python with networkx``.
        fence: Language word of a fenced block, for example ``python``.
        guide: How to write the graph and how to query it, Markdown, in short.
        write_examples: Statements that build one small graph, in order.
        query_examples: Questions on that graph, at least one.
        invalid_example: A statement with an error, for the kit.
    """

    language: str
    fence: str
    guide: str
    write_examples: tuple[str, ...]
    query_examples: tuple[QueryExample, ...]
    invalid_example: str

    def name(self, node: Node) -> str:
        """Gives the short name by which edge lines refer to a node."""
        if node.key:
            return quote(node.key)
        for wanted in ("name", "title", "id", "label", "text"):
            if wanted in node.properties:
                return quote(plain_text(node.properties[wanted]))
        if node.properties:
            return quote(plain_text(next(iter(node.properties.values()))))
        return node.id

    def node_line(self, node: Node) -> str:
        """Gives one line for a node: everything that the model may use to find it.

        A ``name`` that is the key once more is left out: the key stands at the beginning of the line.
        """
        labels = "".join(f":{label}" for label in node.labels)
        rest = {name: value for name, value in node.properties.items() if (name, value) != ("name", node.key)}
        return " ".join(part for part in (quote(node.key) if node.key else "", labels, _pairs(rest)) if part)

    def edge_line(self, edge: Edge, name_of: NameOf) -> str:
        """Gives one line for an edge; ``name_of`` maps a node's id to its name."""
        ends = f"{name_of(edge.source)} -{edge.type}-> {name_of(edge.target)}"
        return f"{ends} {_pairs(edge.properties)}".rstrip()

    def line(self, element: Element, graph: TaskGraph) -> str:
        """Gives one line for an element of a graph."""
        if isinstance(element, Node):
            return self.node_line(element)

        def name_of(node_id: str) -> str:
            node = graph.node(node_id)
            return self.name(node) if node else node_id

        return self.edge_line(element, name_of)

    def lines(self, elements: Iterable[Element], graph: TaskGraph) -> list[str]:
        """Gives lines for elements, nodes before edges and equals side by side.

        The order does not depend on the order of writes, so that equal graphs make equal prompts.
        """
        chosen = list(elements)
        nodes = [self.line(element, graph) for element in chosen if isinstance(element, Node)]
        edges = [self.line(element, graph) for element in chosen if isinstance(element, Edge)]
        return [*sort_text(nodes), *sort_text(edges)]


def quote(text: str) -> str:
    """Quotes text on one line, escaped as in JSON; valid as a string in Python, Cypher and SPARQL alike."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for raw, shown in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        escaped = escaped.replace(raw, shown)
    return f'"{visible(escaped)}"'


def show_value(data: JsonValue) -> str:
    """Shows a value's JSON form on one line, compactly."""
    if isinstance(data, str):
        return quote(data)
    if isinstance(data, list):
        return "[" + ", ".join(show_value(item) for item in data) + "]"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, dict):
        return quote(str(next(iter(data.values()))))
    return str(data)


def _pairs(properties: Properties) -> str:
    """Shows properties as ``name=value``: fewer tokens than a map in braces, and as plain."""
    return " ".join(f"{name}={show_value(encode(value))}" for name, value in properties.items())


def dialect_from_json(data: Mapping[str, Any], kind: type[Dialect] = Dialect) -> Dialect:
    """Reads a dialect from its record.

    Args:
        data: Its fields.
        kind: Its class; fields of a subclass must be plain JSON values with defaults.
    """
    examples = tuple(
        QueryExample(item["question"], item["query"], item["answer"], tuple(item["basis"]))
        for item in data["query_examples"]
    )
    known = {item.name: data[item.name] for item in fields(kind) if item.name in data}
    known |= {"query_examples": examples, "write_examples": tuple(data["write_examples"])}
    return kind(**known)
