"""The graph in a sandbox with full Python: networkx with watched dictionaries, kept in the warm worker.

A script runs in a copy of the worker. ``report`` gives its change as data there, ``commit`` makes the same change in
the worker, so that the worker holds what the host holds, value for value.
"""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from kgot_networkx.jail.report import kg_report
from kgot_networkx.jail.rows import kg_rows
from kgot_networkx.jail.values import KG_STALE, kg_edge, kg_edge_attributes, kg_key, kg_node_attributes
from kgot_networkx.jail.watched import Adjacency, Attributes, Copy, Mark, Marks, Neighbours, Nodes, Parallel, same


class Text(str):
    """Text of an IRI, of a text with a language, or of a typed literal: plain text for a script."""

    kgot_tagged: dict[str, str]

    @classmethod
    def of(cls, text: str, tagged: dict[str, str]) -> Text:
        """Makes the text with its neutral form."""
        made = cls(text)
        made.kgot_tagged = tagged
        return made


class TaskGraph(nx.MultiDiGraph):  # type: ignore[misc]
    """The ``G`` of a script. An edge that was there before is not added a second time with equal content."""

    def add_edge(self, u_for_edge: Any, v_for_edge: Any, key: Any = None, **attr: Any) -> Any:
        """Adds an edge, or gives the key of the one that says the same already."""
        return self.put_edge(u_for_edge, v_for_edge, key, attr)

    def add_edges_from(self, ebunch_to_add: Any, **attr: Any) -> list[Any]:
        """Adds edges as :meth:`add_edge` does, given as tuples of two to four."""
        keys = []
        for edge in ebunch_to_add:
            source, target, *rest = edge
            key, data = (rest[0], rest[1]) if len(rest) == 2 else (None, rest[0] if rest else {})
            if len(rest) > 2:
                raise nx.NetworkXError(f"Edge tuple {edge} must be a 2-tuple, 3-tuple or 4-tuple.")
            if len(rest) == 1 and not isinstance(data, dict):
                key, data = data, {}
            keys.append(self.put_edge(source, target, key, {**attr, **data}))
        return keys

    def put_edge(self, source: Any, target: Any, key: Any, attributes: dict[Any, Any]) -> Any:
        """Adds or updates one edge; the attributes' names need not be identifiers."""
        parallel = self._adj[source].get(target, {}) if source in self._adj else {}
        if isinstance(parallel, Parallel):
            key = parallel.find(key)
            if key is None or (isinstance(key, str) and key not in parallel):
                for known, old in parallel.items():
                    if old.settled and says_the_same(source, target, key, attributes, known, old):
                        old.settled = False
                        return known
        key = super().add_edge(source, target, key)
        self._adj[source][target][key].update(attributes)
        return key


def says_the_same(source: Any, target: Any, key: Any, new: dict[Any, Any], known: Any, old: Attributes) -> bool:
    """Tells whether two edges have the same type and properties."""
    try:
        pair = kg_key(source), kg_key(target)
        return kg_edge(*pair, key, new) == kg_edge(*pair, known, old)
    except ValueError:
        return False


class Workbench:
    """The graph that scripts work on, and what they touch."""

    def __init__(self) -> None:
        self.version = 0
        self.start()

    def start(self) -> None:
        """Begins with an empty graph."""
        self.marks: Marks = {}
        self.node_copies: dict[str, Copy] = {}
        self.pair_copies: dict[Mark, dict[int, Copy]] = {}
        graph = TaskGraph()
        graph.node_attr_dict_factory = graph.edge_attr_dict_factory = Attributes
        graph.adjlist_inner_dict_factory = Neighbours
        graph.edge_key_dict_factory = Parallel
        self.nodes, self.after, self.before = self.parts = (
            Nodes((), self.marks),
            Adjacency(self.marks, backwards=False),
            Adjacency(self.marks, backwards=True),
        )
        graph._node, graph._adj, graph._pred = self.parts
        self.graph = graph

    def begin(self, version: int) -> TaskGraph:
        """Gives the graph to a job, which stops where the host has another state."""
        if version != self.version:
            raise RuntimeError(KG_STALE)
        return self.graph

    def report(self, graph: Any, everything: bool) -> Any:
        """Gives what a script changed, as JSON; raises ValueError where the graph cannot be kept."""
        if graph is not self.graph:
            self.refuse_odd(graph)
            everything = True
        parts = (graph._node, graph._adj, graph._pred)
        after: Any = graph._adj
        if not graph.is_multigraph():
            after = {node: {other: {0: data} for other, data in nbrs.items()} for node, nbrs in after.items()}
        if everything or () in self.marks or any(now is not then for now, then in zip(parts, self.parts, strict=True)):
            changed = self.changed_nodes(graph._node), self.changed_pairs(after)
            return kg_report(graph._node, after, *changed, self.node_copies)
        nodes = [mark[0] for mark in self.marks if len(mark) == 1]
        pairs = [(mark[0], mark[1]) for mark in self.marks if len(mark) == 2]
        return kg_report(graph._node, after, nodes, pairs, self.node_copies)

    def changed_nodes(self, nodes: dict[Any, Any]) -> list[Any]:
        """Finds the changed nodes by comparing all with the state before the script."""
        found = [node for node, attributes in nodes.items() if not same(attributes, self.node_copies.get(node))]
        return found + [node for node in self.node_copies if node not in nodes]

    def changed_pairs(self, after: Any) -> list[Mark]:
        """Finds the pairs with changed edges by comparing all with the state before the script."""
        found = []
        for source, neighbours in after.items():
            for target, edges in neighbours.items():
                copies = self.pair_copies.get((source, target), {})
                if list(edges) != list(copies) or any(not same(data, copies[key]) for key, data in edges.items()):
                    found.append((source, target))
        return found + [pair for pair in self.pair_copies if pair[1] not in after.get(pair[0], ())]

    def refuse_odd(self, graph: Any) -> None:
        """Refuses a new ``G`` that is no directed graph, or that keeps nothing of the graph so far."""
        if not isinstance(graph, nx.Graph) or not graph.is_directed():
            raise ValueError(f"G must stay the nx.MultiDiGraph that it is, not become a {type(graph).__name__}")
        if len(self.graph) and not any(node in graph for node in self.graph):
            raise ValueError("a new G would drop the whole graph; add to the G that is there (G.clear() empties it)")

    def commit(self, change: Any, version: int) -> None:
        """Makes a reported change in the worker's own graph; one that fails leaves a state that no job accepts."""
        self.version = -1
        if change.get("all"):
            self.start()
        for entry in change["nodes"]:
            if len(entry) == 1:
                self.drop_node(entry[0])
            else:
                self.put_node(*entry)
        for source, target, edges in change["pairs"]:
            self.put_pair(source, target, edges)
        self.marks.clear()
        self.version = version

    def put_node(self, key: str, labels: list[str], properties: dict[str, Any]) -> None:
        """Sets a node's labels and properties."""
        attributes = Attributes(kg_node_attributes(labels, properties, Text.of))
        if key not in self.nodes:
            self.after[key] = Neighbours()
            self.before[key] = Neighbours()
        self.nodes[key] = attributes
        self.node_copies[key] = attributes.settle()

    def drop_node(self, key: str) -> None:
        """Takes a node out with its edges."""
        if key not in self.nodes:
            return
        for pair in [(key, other) for other in self.after[key]] + [(other, key) for other in self.before[key]]:
            self.pair_copies.pop(pair, None)
        self.node_copies.pop(key, None)
        self.graph.remove_node(key)

    def put_pair(self, source: str, target: str, edges: list[Any]) -> None:
        """Sets all edges from one node to another."""
        copies = self.pair_copies[(source, target)] = {}
        if not edges:
            del self.pair_copies[(source, target)]
            if source in self.after and target in self.after[source]:
                del self.after[source][target]
                del self.before[target][source]
            return
        parallel = Parallel()
        self.after[source][target] = parallel
        self.before[target][source] = parallel
        for key, kind, properties in edges:
            attributes = Attributes(kg_edge_attributes(kind, properties, Text.of))
            parallel[key] = attributes
            copies[key] = attributes.settle()

    def load(self, text: str, version: int, new_version: int) -> None:
        """Takes changes of the host in, given as JSON text; they begin with a whole graph or build on a version."""
        changes = json.loads(text)
        if version != self.version and not changes[0].get("all"):
            raise RuntimeError(KG_STALE)
        for change in changes:
            self.commit(change, new_version)

    def rows(self, result: Any, last: Any, limit: int) -> Any:
        """Gives a query's rows, and what it did to the graph that it was given."""
        rows = kg_rows(result, last, limit)
        return {**rows, "report": self.report(self.graph, False)} if self.marks else rows
