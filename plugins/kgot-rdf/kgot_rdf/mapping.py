"""The mapping between triples and the neutral graph, in both directions; pure functions.

- A subject that is an IRI is a node, and so is the object of an edge. Blank nodes have been given IRIs before.
- ``rdf:type`` with an IRI is a label; every other triple with an IRI as object is an edge; literals are properties.
- Edges with properties, and several edges of one type between two nodes, are described by resources of type
  ``rdf:Statement`` (reification, which every store takes). These are no nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from kgot_core.graph.values import Properties, Scalar, Value
from kgot_rdf.names import NODE, OBJECT, PREDICATE, STATEMENT, SUBJECT, TYPE, VALUES, Names
from kgot_rdf.terms import Term, Triple, from_term, is_literal, literal, read_literal, to_term

Pairs = Iterable[tuple[Term, Term]]
INFERRED = "inferred:"
_STRUCTURE = (SUBJECT, PREDICATE, OBJECT)


def labels_of(pairs: Pairs, names: Names) -> tuple[str, ...]:
    """Gives a node's labels from its predicates and objects, in order of the alphabet: triples have none."""
    types = [obj for predicate, obj in pairs if predicate == TYPE and not is_literal(obj) and obj != NODE]
    return tuple(sorted(map(names.to_name, types)))


def properties_of(pairs: Pairs, names: Names) -> dict[str, Value]:
    """Gives the properties of a node, or of an edge from the resource that describes it."""
    found: dict[Term, list[Term]] = {}
    orders: Mapping[str, list[Term]] = {}
    for predicate, obj in pairs:
        if not is_literal(obj):
            continue
        if predicate == VALUES:
            orders = _orders(obj)
        else:
            found.setdefault(predicate, []).append(obj)
    properties: dict[str, Value] = {}
    for predicate, terms in found.items():
        name = names.to_name(predicate)
        order = orders.get(name, ())
        if order and set(order) == set(terms):
            properties[name] = tuple(map(from_term, order))
        elif len(terms) > 1:
            properties[name] = tuple(map(from_term, sorted(terms)))
        else:
            properties[name] = from_term(terms[0])
    empty = {name: () for name, order in orders.items() if not order and name not in properties}
    return {**properties, **empty}


def described(pairs: Pairs) -> Triple | None:
    """Gives the triple that a resource of type ``rdf:Statement`` describes, if it describes an edge."""
    found: dict[Term, Term] = {}
    is_statement = False
    for predicate, obj in pairs:
        if predicate == TYPE and obj == STATEMENT:
            is_statement = True
        elif predicate in _STRUCTURE:
            if predicate in found or is_literal(obj):
                return None
            found[predicate] = obj
    if not is_statement or len(found) < len(_STRUCTURE):
        return None
    return found[SUBJECT], found[PREDICATE], found[OBJECT]


def node_triples(term: Term, labels: Iterable[str], properties: Properties, names: Names) -> list[Triple]:
    """Gives the triples of a node: its labels and properties.

    Raises:
        ValueError: A value or a name cannot be written.
    """
    found = [(term, TYPE, names.to_term(label)) for label in labels] + property_triples(term, properties, names)
    return found or [(term, TYPE, NODE)]


def property_triples(term: Term, properties: Properties, names: Names) -> list[Triple]:
    """Gives the triples of properties.

    Raises:
        ValueError: A value or a name cannot be written.
    """
    found: list[Triple] = []
    orders: dict[str, list[Term]] = {}
    for name, value in properties.items():
        terms = _terms(value, name)
        predicate = names.to_term(name)
        found += [(term, predicate, obj) for obj in dict.fromkeys(terms)]
        if isinstance(value, tuple) and (len(terms) < 2 or terms != sorted(set(terms))):
            orders[name] = terms
    if orders:
        found.append((term, VALUES, literal(json.dumps(orders, sort_keys=True))))
    return found


def edge_triples(spot: Triple, edges: Iterable[tuple[Term, Properties]], names: Names) -> list[Triple]:
    """Gives the triples of all edges of one type between two nodes.

    Args:
        spot: Source, type and target.
        edges: Each with the resource that describes it and its properties. One edge without properties may have no
            resource (an empty text).
        names: Names and IRIs.

    Raises:
        ValueError: A value or a name cannot be written.
    """
    listed = list(edges)
    # With the type rdf:type the plain triple would be a label.
    found: list[Triple] = [spot] if listed and spot[1] != TYPE else []
    for resource, properties in listed:
        if resource:
            found.append((resource, TYPE, STATEMENT))
            found += [(resource, part, obj) for part, obj in zip(_STRUCTURE, spot, strict=True)]
            found += property_triples(resource, properties, names)
    return found


def _terms(value: Value, name: str) -> list[Term]:
    items: tuple[Scalar, ...] = value if isinstance(value, tuple) else (value,)
    try:
        return [to_term(item) for item in items]
    except ValueError as error:
        raise ValueError(f"property {name!r}: {error}") from None


def _orders(term: Term) -> Mapping[str, list[Term]]:
    try:
        data = json.loads(read_literal(term)[0])
    except ValueError:
        return {}
    if not isinstance(data, dict):
        return {}
    return {name: order for name, order in data.items() if isinstance(order, list) and all(map(_is_term, order))}


def _is_term(item: object) -> bool:
    return isinstance(item, str) and item.startswith('"')
