"""Shapes, inference and rules; runs in the worker. What follows from the graph is always found anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from kgot_rdf.triple_terms import text_of

if TYPE_CHECKING:
    from rdflib import Graph

Triple = tuple[str, str, str]
INFERRED = ox.NamedNode("urn:kgot:inferred")
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_OWL = "http://www.w3.org/2002/07/owl#"
_VOCABULARIES = (_RDF, "http://www.w3.org/2000/01/rdf-schema#", _OWL, "http://www.w3.org/2001/XMLSchema#")
_TRIVIAL = tuple(f"<{name}>" for name in (f"{_VOCABULARIES[1]}Resource", f"{_OWL}Thing"))
_REFLEXIVE = tuple(
    f"<{name}>"
    for name in (
        f"{_OWL}sameAs",
        f"{_OWL}equivalentClass",
        f"{_OWL}equivalentProperty",
        f"{_VOCABULARIES[1]}subClassOf",
        f"{_VOCABULARIES[1]}subPropertyOf",
    )
)
_STATEMENT = f"<{_RDF}Statement>"
_ROUNDS = 10
_SHOWN = 3


class Violation(Exception):
    """The graph would not obey the shapes."""


class Reasoner:
    """Concludes from the graph after each write.

    Args:
        shapes: File of SHACL shapes, empty for none.
        inference: ``none``, ``rdfs`` or ``owlrl``.
        rules: CONSTRUCT queries.
    """

    def __init__(self, shapes: str, inference: str, rules: Sequence[str]) -> None:
        self._inference = inference
        self._rules = rules
        self._graph: Graph = _graph("")
        self._shapes = _read_shapes(shapes) if shapes else None
        self._copied = bool(shapes) or inference != "none"
        for rule in rules:
            ox.Store().query(rule)
        if self._shapes is not None:
            self._check(self._graph)

    def load(self, store: ox.Store, stated: Sequence[ox.Quad]) -> None:
        """Takes a whole graph in."""
        self._graph = _graph(_text(stated)) if self._copied else self._graph

    def undo(self, added: Sequence[ox.Quad], removed: Sequence[ox.Quad]) -> None:
        """Takes a change back."""
        self._change(removed, added)

    def conclude(
        self, store: ox.Store, added: Sequence[ox.Quad], removed: Sequence[ox.Quad], given: set[Triple]
    ) -> set[Triple]:
        """Finds all that follows after a change.

        Args:
            store: The store with the change.
            added: New triples.
            removed: Triples that have gone.
            given: What is inferred in the store now.

        Raises:
            Violation: The graph does not obey the shapes.
        """
        self._change(added, removed)
        derives = self._inference != "none" or bool(self._rules)
        found = self._closure() if self._inference != "none" else set() if derives else given
        found = self._apply_rules(store, found) if self._rules else found
        if self._shapes is not None:
            self._check(self._graph + _graph(_lines(found)) if found else self._graph)
        return found

    def _change(self, added: Sequence[ox.Quad], removed: Sequence[ox.Quad]) -> None:
        if not self._copied:
            return
        for triple in _graph(_text(removed)):
            self._graph.remove(triple)
        for triple in _graph(_text(added)):
            self._graph.add(triple)

    def _closure(self) -> set[Triple]:
        import owlrl  # type: ignore[import-untyped]

        kind = owlrl.RDFS_Semantics if self._inference == "rdfs" else owlrl.OWLRL_Semantics
        closed = _graph("") + self._graph
        owlrl.DeductiveClosure(kind, axiomatic_triples=False, datatype_axioms=False).expand(closed)
        new = (triple for triple in closed if triple not in self._graph)
        return set(filter(_tells, (_plain(triple) for triple in new)))

    def _apply_rules(self, store: ox.Store, found: set[Triple]) -> set[Triple]:
        store.clear_graph(INFERRED)
        store.extend(_quads(found))
        for _ in range(_ROUNDS):
            new: set[Triple] = set()
            for rule in self._rules:
                found_now: Any = store.query(rule, default_graph=[ox.DefaultGraph(), INFERRED])
                for triple in found_now:
                    stated = ox.Quad(triple.subject, triple.predicate, triple.object)
                    text = str(triple.subject), str(triple.predicate), text_of(triple.object)
                    if text not in found and stated not in store:
                        new.add(text)
            if not new:
                break
            found = found | new
            store.extend(_quads(new))
        return found

    def _check(self, graph: Graph) -> None:
        import pyshacl

        good, report, text = pyshacl.validate(graph, shacl_graph=self._shapes, inference="none")
        if good:
            return
        raise Violation(_said(report) or str(text))


def open_reasoner(options: Mapping[str, Any]) -> Reasoner | None:
    """Makes the reasoner that the settings ask for, ``None`` where they ask for none.

    Raises:
        ValueError: The shapes or a rule cannot be used.
    """
    shapes, inference, rules = options.get("shapes", ""), options.get("inference", "none"), options.get("rules", [])
    if not shapes and inference == "none" and not rules:
        return None
    try:
        return Reasoner(shapes, inference, rules)
    except SyntaxError as error:
        raise ValueError(f"a rule cannot be read: {error.msg}") from None
    except Violation as error:
        raise ValueError(f"the shapes refuse even an empty graph: {error}") from None


def _read_shapes(path: str) -> Graph:
    from rdflib import Graph

    try:
        shapes = Graph().parse(data=Path(path).read_text("utf-8"), format="turtle")
    except OSError as error:
        raise ValueError(f"the shapes {path} cannot be read: {error.strerror}") from None
    except Exception as error:  # each of rdflib's parsers has errors of its own
        raise ValueError(f"the shapes {path} are no Turtle: {_first_line(str(error))}") from None
    if not len(shapes):
        raise ValueError(f"the shapes {path} are empty")
    return shapes


def _first_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _said(report: Any) -> str:
    """Gives the first violations as a sentence each: node, property, message."""
    from rdflib import SH

    lines = []
    for result in report.subjects(SH.resultMessage):
        node, path = report.value(result, SH.focusNode), report.value(result, SH.resultPath)
        value, message = report.value(result, SH.value), report.value(result, SH.resultMessage)
        where = " ".join(item.n3() for item in (node, path, value) if item is not None and hasattr(item, "n3"))
        lines.append(f"{where}: {message}")
    lines.sort()
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return "; ".join(lines[:_SHOWN]) + more


def _tells(triple: Triple) -> bool:
    """Tells whether an inferred triple says anything: not of the vocabularies themselves, and not of itself."""
    subject, predicate, obj = triple
    if subject[0] != "<" or predicate[0] != "<" or subject.startswith(tuple(f"<{name}" for name in _VOCABULARIES)):
        return False
    if predicate == f"<{_RDF}type>" and (obj in _TRIVIAL or obj == f"<{_OWL}NamedIndividual>" or obj[0] != "<"):
        return False
    if predicate == f"<{_RDF}type>" and obj.startswith(tuple(f"<{name}" for name in _VOCABULARIES)):
        return False
    return not (predicate in _REFLEXIVE and (subject == obj or obj in _TRIVIAL)) and not obj.startswith("_:")


def _graph(text: str) -> Graph:
    from rdflib import Graph

    graph = Graph(bind_namespaces="none")
    return graph.parse(data=text, format="nt") if text else graph


def _text(quads: Sequence[ox.Quad]) -> str:
    return "\n".join(f"{quad.subject} {quad.predicate} {quad.object} ." for quad in quads)


def _lines(triples: Iterable[Triple]) -> str:
    return "\n".join(f"{' '.join(triple)} ." for triple in triples)


def _quads(triples: Iterable[Triple]) -> list[ox.Quad]:
    parsed = ox.parse(_lines(triples), ox.RdfFormat.N_TRIPLES)
    return [ox.Quad(quad.subject, quad.predicate, quad.object, INFERRED) for quad in parsed]


def _plain(triple: tuple[Any, Any, Any]) -> Triple:
    subject, predicate, obj = map(_term, triple)
    return subject, predicate, obj


def _term(item: Any) -> str:
    from rdflib import Literal, URIRef

    if isinstance(item, URIRef):
        return f"<{item}>"
    if not isinstance(item, Literal):
        return f"_:{item}"
    if item.language:
        return str(ox.Literal(str(item), language=item.language))
    return str(ox.Literal(str(item), datatype=ox.NamedNode(str(item.datatype)) if item.datatype else None))
