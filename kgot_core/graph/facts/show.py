"""Writes elements and facts in the fact language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kgot_core.graph.elements import Edge, Element, Node
from kgot_core.graph.facts.index import node_names
from kgot_core.graph.facts.model import EdgeFact, Fact, Mention, NodeFact, PropertyFact, RemoveEdge, RemoveProperty
from kgot_core.graph.facts.names import THING, is_form
from kgot_core.graph.facts.values import quote, show_value

_PLAIN_NAME = re.compile(r"[^\W_](?:[\w ,.&'’/+!-]*[\w.!])?")


def show_facts(elements: Iterable[Element], name_of: Callable[[str], Mention] | None = None) -> str:
    """Writes elements as facts, one a line, nodes first.

    Args:
        elements: The elements.
        name_of: Gives a node by its id, for ends of edges that are not among the elements.
    """
    elements = list(elements)
    nodes = {element.id: mention_of(element) for element in elements if isinstance(element, Node)}
    lines: list[str] = []
    for element in elements:
        if isinstance(element, Node):
            mention = nodes[element.id]
            rest = {key: value for key, value in element.properties.items() if key != "name"}
            lines.append(show_mention(mention))
            lines += [f"{show_mention(mention)} {key} = {show_value(value)}" for key, value in rest.items()]
    for element in elements:
        if isinstance(element, Edge):
            ends = [
                nodes.get(end) or (name_of(end) if name_of else Mention(end))
                for end in (element.source, element.target)
            ]
            lines.append(show_fact(EdgeFact(ends[0], element.type, ends[1], element.properties)))
    return "\n".join(lines)


def mention_of(node: Node) -> Mention:
    """Gives a node as a fact names it: its first label, and its name, title, key or first value."""
    names = node_names(node)
    if not names:
        names = [show_value(value).strip('"') for value in node.properties.values()] or [node.id]
    return Mention(names[0], node.labels[0] if node.labels else THING)


def show_mention(mention: Mention) -> str:
    """Writes a node in parentheses, its name in quotes where it could be misread."""
    name = mention.name
    if not _PLAIN_NAME.fullmatch(name) or "  " in name or is_form(mention.label, name):
        name = quote(name)
    return f"({mention.label}: {name})" if mention.label else f"({name})"


def show_fact(fact: Fact) -> str:
    """Writes a fact as a line."""
    if isinstance(fact, EdgeFact | RemoveEdge):
        properties = fact.properties if isinstance(fact, EdgeFact) else {}
        pairs = ", ".join(f"{key}={show_value(value)}" for key, value in properties.items())
        body = f"{fact.type} {pairs}".strip()
        text = f"{show_mention(fact.source)} -[{body}]-> {show_mention(fact.target)}"
    elif isinstance(fact, PropertyFact):
        text = f"{show_mention(fact.node)} {fact.key} = {show_value(fact.value)}"
    elif isinstance(fact, RemoveProperty):
        text = f"{show_mention(fact.node)} {fact.key}"
    else:
        text = show_mention(fact.node)
    return text if isinstance(fact, NodeFact | PropertyFact | EdgeFact) else f"DELETE {text}"
