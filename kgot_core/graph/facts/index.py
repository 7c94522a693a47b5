"""Finds the node that a fact means, among those of the graph and those that earlier facts brought."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kgot_core.graph.elements import Node
from kgot_core.graph.facts.model import LineFault, Mention
from kgot_core.graph.facts.names import THING, same_label, same_name
from kgot_core.graph.values import plain_text

NAME_PROPERTIES = ("name", "title")


class NodeIndex:
    """Nodes by their names: the properties ``name`` and ``title``, and the store's key."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes: dict[str, Node] = {}
        self._names: dict[str, dict[str, None]] = {}
        for node in nodes:
            self.put(node)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes.values())

    def put(self, node: Node) -> None:
        """Takes a new node or a node's new state in; names that it had before still find it."""
        self._nodes[node.id] = node
        for name in node_names(node):
            self._names.setdefault(same_name(name), {})[node.id] = None

    def remove(self, node_id: str) -> None:
        """Forgets a node."""
        del self._nodes[node_id]

    def knows(self, name: str, label: str = "") -> bool:
        """Tells whether a node has this name, and this label where one is given."""
        wanted = same_label(label)
        return any(not wanted or wanted in map(same_label, node.labels) for node in self._with_name(name))

    def find(self, mention: Mention) -> Node | None:
        """Finds the node that is meant; ``None`` where it is a new one.

        A label must agree, so that two things of one name and different kind stay apart; a node without a label,
        or with the label for things of unknown kind, takes any. Of several nodes with the same label and name the
        oldest is meant.

        Raises:
            LineFault: The label is left out and several nodes have the name.
        """
        named = self._with_name(mention.name)
        if not mention.label:
            return self._only(named, mention)
        label = same_label(mention.label)
        same = [node for node in named if label in map(same_label, node.labels)]
        if same:
            return same[0]
        if label == same_label(THING):
            return self._only(named, mention)
        unknown = [node for node in named if is_unknown(node)]
        return unknown[0] if len(unknown) == 1 else None

    def _with_name(self, name: str) -> list[Node]:
        found = self._names.get(same_name(name), ())
        return [self._nodes[node_id] for node_id in found if node_id in self._nodes]

    def _only(self, nodes: list[Node], mention: Mention) -> Node | None:
        if len(nodes) > 1:
            exact = [node for node in nodes if mention.name in node_names(node)]
            if len(exact) == 1:
                return exact[0]
            shown = ", ".join(f"({node.labels[0] if node.labels else ''}: {mention.name})" for node in nodes[:5])
            raise LineFault(f"the name {mention.name!r} fits several things, write its kind: {shown}")
        return nodes[0] if nodes else None


def node_names(node: Node) -> list[str]:
    """Gives the names a node is known by, its name first."""
    names = [plain_text(node.properties[key]) for key in NAME_PROPERTIES if key in node.properties]
    return [name for name in (*names, node.key) if name.strip()]


def is_unknown(node: Node) -> bool:
    """Tells whether nobody has said yet what kind of thing a node is."""
    return not node.labels or node.labels == (THING,)
