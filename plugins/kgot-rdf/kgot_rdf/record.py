"""The host's own copy of the graph: the triples, and the neutral elements that they are, with their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node
from kgot_rdf.folding import Folded, Ids, Place, Touched
from kgot_rdf.mapping import INFERRED, described, labels_of, properties_of
from kgot_rdf.names import GENID, OBJECT, SUBJECT, TYPE, Names
from kgot_rdf.terms import Term, Triple, is_literal
from kgot_rdf.triples import Delta, Triples

_GENID = re.compile(r"\d+")
_NUMBERED = re.compile(r"([ne])([0-9]{1,15})")
_GENID_START = f"<{GENID}"


class RdfRecord:
    """Triples and elements. What was stated and what was inferred are kept apart.

    Args:
        names: Names and IRIs.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.stated = Triples()
        self.inferred = Triples()
        self._describes: dict[Term, Triple] = {}
        self._described: dict[Triple, dict[Term, None]] = {}
        self._nodes: dict[Term, Node] = {}
        self._edges: dict[Place, Edge] = {}
        self._spots: dict[Triple, tuple[Place, ...]] = {}
        self._place_of: dict[str, Term | Place] = {}
        self._counters = {"n": 0, "e": 0, "genid": 0}

    def term_of(self, node_id: str) -> Term:
        """Gives the IRI of the node with this id, empty where there is none."""
        found = self._place_of.get(node_id, "")
        return found if isinstance(found, str) else ""

    def edge_place(self, edge_id: str) -> Place | None:
        """Gives where the edge with this id stands."""
        found = self._place_of.get(edge_id)
        return found if isinstance(found, tuple) else None

    def node_at(self, term: Term) -> Node | None:
        """Gives the node of an IRI."""
        return self._nodes.get(term)

    def edges_at(self, spot: Triple) -> Mapping[Term, Edge]:
        """Gives the edges of one type between two nodes, by the resources that describe them."""
        return {resource: self._edges[spot, resource] for spot, resource in self._spots.get(spot, ())}

    def edges_of(self, term: Term) -> list[Place]:
        """Gives where the edges stand that leave or reach a node."""
        spots = [(term, *pair) for triples in (self.stated, self.inferred) for pair in triples.of(term)]
        for triples in (self.stated, self.inferred):
            for subject, predicate in triples.to(term):
                spot = self._describes.get(subject)
                spots.append(spot if spot is not None else (subject, predicate, term))
        return [place for spot in dict.fromkeys(spots) for place in self._spots.get(spot, ())]

    def resources_of(self, spot: Triple) -> Iterable[Term]:
        """Gives the resources that describe edges of one type between two nodes."""
        return self._described.get(spot, ())

    def describes(self, term: Term) -> Triple | None:
        """Gives the triple that a resource describes, ``None`` for a node."""
        return self._describes.get(term)

    def new_resource(self) -> Term:
        """Gives an IRI for a thing without one."""
        self._counters["genid"] += 1
        return f"<{GENID}{self._counters['genid']}>"

    def see(self, term: Term) -> None:
        """Takes note of an IRI that is used, so that :meth:`new_resource` never gives it."""
        if term.startswith(_GENID_START) and (found := _GENID.fullmatch(term[len(_GENID_START) : -1])):
            self._counters["genid"] = max(self._counters["genid"], int(found[0]))

    def new_id(self, kind: str) -> str:
        """Gives an id that no element has: ``n`` for a node, ``e`` for an edge."""
        while True:
            self._counters[kind] += 1
            if (new := f"{kind}{self._counters[kind]}") not in self._place_of:
                return new

    def snapshot(self) -> GraphSnapshot:
        """Gives the whole graph."""
        return GraphSnapshot(tuple(self._nodes.values()), tuple(self._edges.values()))

    def fold(self, delta: Delta, inferred: Delta = Delta(), ids: Ids = Ids()) -> Folded:  # noqa: B008 - frozen
        """Takes triples in.

        Args:
            delta: What was stated and taken back; only real changes.
            inferred: The same for inferred triples.
            ids: Ids of elements that have some.

        Returns:
            What that means for the elements, and what :meth:`undo` needs.
        """
        counters = dict(self._counters)
        for given in (*ids.nodes.values(), *ids.edges.values()):
            if found := _NUMBERED.fullmatch(given):
                # In a run that goes on no id is given again, also where its element was removed.
                self._counters[found[1]] = max(self._counters[found[1]], int(found[2]))
        touched = Touched()
        self._note(touched, self.stated, delta.removed)
        self._note(touched, self.inferred, inferred.removed)
        self.stated.fold(delta)
        self.inferred.fold(inferred)
        self._describe(delta, touched)
        self._note(touched, self.stated, delta.added)
        self._note(touched, self.inferred, inferred.added)
        gone: tuple[dict[Term, str], dict[Place, str]] = ({}, {})
        change = self._refresh(touched, ids, gone)
        return Folded(change, delta, inferred, Ids(*gone), counters)

    def undo(self, folded: Folded) -> None:
        """Takes back what was folded last; the elements get their ids again."""
        self.fold(folded.delta.back(), folded.inferred.back(), folded.gone)
        self._counters = dict(folded.counters)

    def _note(self, touched: Touched, triples: Triples, changed: Iterable[Triple]) -> None:
        """Notes what triples are part of, as things stand: those that go before they do, those that come afterwards."""
        for triple in changed:
            subject, predicate, obj = triple
            spot = self._describes.get(subject)
            touched.nodes[subject] = True
            if spot is not None:
                touched.spot(spot)
            if not is_literal(obj):
                touched.spots[triple] = None
                if self._makes_end(predicate, spot, triples):
                    touched.end(obj)
            self.see(subject)
            self.see(obj)

    def _describe(self, delta: Delta, touched: Touched) -> None:
        """Finds out anew which of the touched subjects describe an edge."""
        added = frozenset(delta.added)
        for subject in dict.fromkeys(triple[0] for triple in (*delta.removed, *delta.added)):
            old, new = self._describes.get(subject), described(self.stated.of(subject))
            if old == new:
                continue
            if old is not None:
                del self._describes[subject]
                del self._described[old][subject]
                touched.spot(old)
            if new is not None:
                self._describes[subject] = new
                self._described.setdefault(new, {})[subject] = None
                touched.spot(new)
            for predicate, obj in self.stated.of(subject):
                triple = (subject, predicate, obj)
                if is_literal(obj):
                    continue
                touched.spots[triple] = None
                if triple not in added and any(self._makes_end(predicate, spot, self.stated) for spot in (old, new)):
                    touched.end(obj)
            for source, predicate in self.stated.to(subject):
                touched.spot((source, predicate, subject))

    def _refresh(self, touched: Touched, ids: Ids, gone: tuple[dict[Term, str], dict[Place, str]]) -> GraphChange:
        added: list[Element] = []
        changed: list[Element] = []
        removed: list[str] = []
        for term, own in touched.nodes.items():
            old = self._nodes.get(term)
            if not own and old is not None and not old.inferred and self.stated.of(term):
                continue  # with triples of its own it is a node whatever edges it has
            new = self._node(term, old.id if old else ids.nodes.get(term, ""))
            if new is None and old is not None:
                del self._nodes[term], self._place_of[old.id]
                gone[0][term] = old.id
                removed.append(old.id)
            elif new is not None:
                self._nodes[term] = new
                self._place_of[new.id] = term
                if old is None:
                    added.append(new)
                elif not new.same_as(old) or new.inferred != old.inferred:
                    changed.append(new)
        for spot in touched.spots:
            gone[1].update(self._refresh_spot(spot, ids, added, changed, removed))
        return GraphChange(tuple(added), tuple(changed), tuple(removed))

    def _refresh_spot(
        self, spot: Triple, ids: Ids, added: list[Element], changed: list[Element], removed: list[str]
    ) -> Mapping[Place, str]:
        before = {place: self._edges.pop(place) for place in self._spots.pop(spot, ())}
        for place, edge in before.items():
            if self._place_of.get(edge.id) == place:
                del self._place_of[edge.id]
        places = self._places(spot)
        # An edge that gets its first description, or loses its last one, is the same edge.
        spare = [edge.id for place, edge in before.items() if place not in places]
        old = {edge.id: edge for edge in before.values()}
        for place in places:
            known = before[place].id if place in before else ids.edges.get(place) or (spare.pop(0) if spare else "")
            if known in spare:
                spare.remove(known)
            edge = self._edge(place, known or self.new_id("e"))
            self._edges[place] = edge
            self._place_of[edge.id] = place
            if edge.id not in old:
                added.append(edge)
            elif not edge.same_as(old[edge.id]) or edge.inferred != old[edge.id].inferred:
                changed.append(edge)
        if places:
            self._spots[spot] = places
        removed += [edge_id for edge_id in old if edge_id not in self._place_of]
        return {place: edge.id for place, edge in before.items()}

    def _places(self, spot: Triple) -> tuple[Place, ...]:
        subject, predicate, obj = spot
        if is_literal(obj) or subject in self._describes or obj in self._describes:
            return ()
        resources = self._described.get(spot)
        if resources and (spot in self.stated or predicate == TYPE):
            return tuple((spot, resource) for resource in resources)
        is_label = predicate == TYPE and spot in self.stated
        return ((spot, ""),) if not is_label and (spot in self.stated or spot in self.inferred) else ()

    def _edge(self, place: Place, edge_id: str) -> Edge:
        (subject, predicate, obj), resource = place
        properties = properties_of(self.stated.of(resource), self.names) if resource else {}
        ends = self._nodes[subject].id, self._nodes[obj].id
        inferred = not resource and place[0] not in self.stated
        return Edge(edge_id, self.names.to_name(predicate), *ends, properties, inferred)

    def _node(self, term: Term, node_id: str) -> Node | None:
        if is_literal(term) or term in self._describes:
            return None
        pairs, derived = self.stated.of(term), self.inferred.of(term)
        stated = bool(pairs) or self._is_end(term, self.stated)
        if not stated and not derived and not self._is_end(term, self.inferred):
            return None
        properties = properties_of(pairs, self.names)
        if derived:
            extra = properties_of(derived, self.names)
            properties |= {f"{INFERRED}{name}": value for name, value in extra.items()}
        node_id = node_id or self.new_id("n")
        return Node(node_id, labels_of(pairs, self.names), properties, self.names.show(term), not stated)

    def _is_end(self, term: Term, triples: Triples) -> bool:
        return any(
            self._makes_end(predicate, self._describes.get(subject), triples) for subject, predicate in triples.to(term)
        )

    def _makes_end(self, predicate: Term, describes: Triple | None, triples: Triples) -> bool:
        """Tells whether a triple makes a node of its object, where its subject describes an edge or none.

        Most triples that lead to a class or to the type of an edge do not, so these are not looked at with each write.
        """
        if describes is not None:
            return describes[1] == TYPE and predicate in (SUBJECT, OBJECT)
        return predicate != TYPE or triples is self.inferred
