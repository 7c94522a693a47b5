"""Turns neutral elements of any origin into triples: facts, a given graph, a restored one, an undone change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_core.graph.values import Properties, Value, plain_text
from kgot_rdf.folding import Ids, Place
from kgot_rdf.mapping import INFERRED, edge_triples, node_triples, property_triples
from kgot_rdf.names import TYPE
from kgot_rdf.record import RdfRecord
from kgot_rdf.terms import Term, Triple, from_term, is_literal
from kgot_rdf.triples import Delta

_NAMING = ("name", "title", "rdfs:label", "label", "id", "text")


@dataclass(frozen=True)
class Taken:
    """The triples of a change, and the ids that its elements have to get."""

    stated: Delta
    inferred: Delta
    ids: Ids


def take(record: RdfRecord, change: GraphChange) -> Taken:
    """Finds the triples that a change adds and removes. Nothing is changed yet.

    Raises:
        QueryError: An element cannot be held; the message names it.
    """
    return _Taking(record, change).taken()


@dataclass
class _Lists:
    added: dict[Triple, None] = field(default_factory=dict)
    removed: dict[Triple, None] = field(default_factory=dict)

    def put(self, triples: Sequence[Triple]) -> None:
        for triple in triples:
            self.added[triple] = None
            self.removed.pop(triple, None)

    def drop(self, triples: Sequence[Triple]) -> None:
        for triple in triples:
            self.added.pop(triple, None)
            self.removed[triple] = None

    def delta(self) -> Delta:
        return Delta(tuple(self.added), tuple(self.removed))


class _Taking:
    def __init__(self, record: RdfRecord, change: GraphChange) -> None:
        self._record = record
        self._names = record.names
        self._removed = dict.fromkeys(change.removed)
        elements = (*change.added, *change.changed)
        self._nodes = {element.id: element for element in elements if isinstance(element, Node)}
        self._edges = {element.id: element for element in elements if isinstance(element, Edge)}
        self._stated, self._inferred = _Lists(), _Lists()
        self._terms: dict[str, Term] = {}
        self._owners: dict[Term, str] = {}
        self._spots: dict[Triple, dict[str, tuple[Term, Properties]]] = {}
        self._edge_ids: dict[Place, str] = {}

    def taken(self) -> Taken:
        for element_id in self._removed:
            self._drop(element_id)
        self._name_nodes()
        for node in self._nodes.values():
            self._put(node, self._put_node)
        for edge in self._edges.values():
            self._put(edge, self._put_edge)
        for spot, edges in self._spots.items():
            self._write_spot(spot, edges)
        ids = Ids({term: node_id for node_id, term in self._terms.items()}, self._edge_ids)
        stated = self._record.stated.net(self._stated.delta())
        return Taken(stated, self._record.inferred.net(self._inferred.delta()), ids)

    def _put(self, element: Element, put: object) -> None:
        try:
            put(element)  # type: ignore[operator]
        except ValueError as error:
            raise QueryError(f"{_about(element)} cannot be held: {error}") from None

    def _drop(self, element_id: str) -> None:
        record = self._record
        if element_id in self._nodes or element_id in self._edges:
            return
        if term := record.term_of(element_id):
            self._stated.drop([(term, *pair) for pair in record.stated.of(term)])
            self._inferred.drop([(term, *pair) for pair in record.inferred.of(term)])
            self._stated.drop([(subject, predicate, term) for subject, predicate in record.stated.to(term)])
            self._inferred.drop([(subject, predicate, term) for subject, predicate in record.inferred.to(term)])
            for edge in record.edges_of(term):
                self._forget(edge)
        elif place := record.edge_place(element_id):
            self._forget(place)

    def _forget(self, place: Place) -> None:
        spot, resource = place
        edge = self._record.edges_at(spot)[resource]
        if edge.inferred:
            self._inferred.drop([spot])
        else:
            self._at(spot).pop(edge.id, None)

    def _at(self, spot: Triple) -> dict[str, tuple[Term, Properties]]:
        """Gives the edges of one type between two nodes as they are going to be, by id."""
        if spot not in self._spots:
            known = self._record.edges_at(spot)
            self._spots[spot] = {
                edge.id: (resource, edge.properties) for resource, edge in known.items() if not edge.inferred
            }
        return self._spots[spot]

    def _name_nodes(self) -> None:
        waiting: list[Node] = []
        for node in self._nodes.values():
            if self._record.edge_place(node.id) is not None:
                raise QueryError(f"{_about(node)} has the id of an edge")
            term = self._record.term_of(node.id) or self._names.read_key(node.key)
            if term and self._free(term, node.id):
                self._name(node, term)
            else:
                waiting.append(node)
        for node in waiting:
            self._name(node, self._unique(node))

    def _name(self, node: Node, term: Term) -> None:
        self._record.numbering.see(term)
        self._terms[node.id] = term
        self._owners[term] = node.id

    def _free(self, term: Term, node_id: str) -> bool:
        owner = self._owners.get(term)
        if owner is None and (known := self._record.node_at(term)) is not None:
            owner = None if known.id in self._removed else known.id
        return owner in (None, node_id) and self._record.describes(term) is None

    def _unique(self, node: Node) -> Term:
        base = node.key if node.key and not self._names.read_key(node.key) else _name(node)
        for name in (base, f"{base}_{node.labels[0]}" if node.labels else base):
            if self._free(term := self._names.make_key(name), node.id):
                return term
        number = 2
        while not self._free(term := self._names.make_key(f"{base[:60]}_{number}"), node.id):
            number += 1
        return term

    def _put_node(self, node: Node) -> None:
        term = self._terms[node.id]
        record = self._record
        own, derived = _split(node.properties)
        old = [(term, *pair) for pair in record.stated.of(term) if is_literal(pair[1]) or pair[0] == TYPE]
        if not node.inferred:
            new = _keep_forms(node_triples(term, node.labels, own, self._names), old)
            self._stated.drop([triple for triple in old if triple not in new])
            self._stated.put(list(new))
        # What the store infers itself it will infer again.
        self._inferred.put(property_triples(term, derived, self._names))

    def _put_edge(self, edge: Edge) -> None:
        if self._record.term_of(edge.id):
            raise QueryError(f"{_about(edge)} has the id of a node")
        spot = self._end(edge, edge.source), self._names.to_term(edge.type), self._end(edge, edge.target)
        old = self._record.edge_place(edge.id)
        if old is not None and old[0] != spot:
            self._forget(old)
        if edge.inferred:
            self._inferred.put([spot])
            self._edge_ids[spot, ""] = edge.id
            return
        known = self._at(spot).get(edge.id)
        self._at(spot)[edge.id] = (known[0] if known else "", edge.properties)

    def _end(self, edge: Edge, node_id: str) -> Term:
        term = self._terms.get(node_id) or ("" if node_id in self._removed else self._record.term_of(node_id))
        if not term:
            raise QueryError(f"{_about(edge)} leads from or to a node that is not there: {node_id}")
        return term

    def _write_spot(self, spot: Triple, edges: dict[str, tuple[Term, Properties]]) -> None:
        record = self._record
        plain = len(edges) == 1 and spot[1] != TYPE and not any(properties for _, properties in edges.values())
        listed: list[tuple[Term, Properties]] = []
        for edge_id, (resource, properties) in edges.items():
            resource = "" if plain and not resource else resource or record.numbering.new_resource()
            listed.append((resource, properties))
            self._edge_ids[spot, resource] = edge_id
        old: list[Triple] = [spot] if spot in record.stated and spot[1] != TYPE else []
        for resource in record.resources_of(spot):
            old += [(resource, *pair) for pair in record.stated.of(resource)]
        try:
            new = _keep_forms(edge_triples(spot, listed, self._names), old)
        except ValueError as error:
            raise QueryError(f"an edge {record.names.to_name(spot[1])} cannot be held: {error}") from None
        self._stated.drop([triple for triple in old if triple not in new])
        self._stated.put(list(new))


def _keep_forms(new: Sequence[Triple], old: Sequence[Triple]) -> dict[Triple, None]:
    """Keeps a literal's form where the value is the same: ``1.5`` as written in a statement is a decimal number."""
    known = {(subject, predicate, repr(from_term(obj))): obj for subject, predicate, obj in old if is_literal(obj)}
    found: dict[Triple, None] = {}
    for subject, predicate, obj in new:
        if is_literal(obj):
            obj = known.get((subject, predicate, repr(from_term(obj))), obj)
        found[subject, predicate, obj] = None
    return found


def _split(properties: Properties) -> tuple[dict[str, Value], dict[str, Value]]:
    own = {name: value for name, value in properties.items() if not name.startswith(INFERRED)}
    derived = {name.removeprefix(INFERRED): value for name, value in properties.items() if name.startswith(INFERRED)}
    return own, derived


def _name(node: Node) -> str:
    for wanted in (*_NAMING, *node.properties):
        if wanted in node.properties and (text := plain_text(node.properties[wanted]).strip()):
            return text[:80]
    return node.labels[0] if node.labels else "node"


def _about(element: Element) -> str:
    if isinstance(element, Edge):
        return f"the edge {element.type}"
    return f'the node "{element.key or _name(element)}"'
