"""The dialect as shown to the model: the guide from ``dialect.md``, and the state as compact Turtle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

from kgot_core.contracts.dialect import Dialect, NameOf
from kgot_core.contracts.dialect_page import read_dialect_page
from kgot_core.graph.elements import Edge, Node
from kgot_core.graph.values import Properties, Value
from kgot_rdf.mapping import INFERRED
from kgot_rdf.names import DEFAULT_NAMESPACE, TYPE, Names
from kgot_rdf.terms import XSD, Term, read_literal, to_term

_BARE = {
    f"{XSD}integer": re.compile(r"[+-]?\d+"),
    f"{XSD}decimal": re.compile(r"[+-]?\d+\.\d+"),
    f"{XSD}double": re.compile(r"[+-]?(?:\d+\.\d+|\d+)[eE][+-]?\d+"),
    f"{XSD}boolean": re.compile("true|false"),
}


@dataclass(frozen=True)
class TurtleDialect(Dialect):
    """SPARQL, with elements shown as Turtle.

    Attributes:
        namespace: What ``:`` stands for.
    """

    namespace: str = DEFAULT_NAMESPACE

    def name(self, node: Node) -> str:
        """Gives the name of a node as a statement writes it."""
        return node.key or super().name(node)

    def node_line(self, node: Node) -> str:
        """Gives a node as Turtle on one line; what was inferred stands in a comment."""
        names = Names(self.namespace)
        own = {name: value for name, value in node.properties.items() if not name.startswith(INFERRED)}
        derived = {name[len(INFERRED) :]: value for name, value in node.properties.items() if name not in own}
        kinds = [f"a {', '.join(names.show(names.to_term(label)) for label in node.labels)}"] if node.labels else []
        parts = [*kinds, *_pairs(own, names)]
        subject = self.name(node)
        line = f"{subject} {' ; '.join(parts)} ." if parts else f"# {subject}"
        notes = [
            *(["inferred"] if node.inferred else []),
            *(["inferred: " + " ; ".join(_pairs(derived, names))] if derived else []),
        ]
        return f"{line} # {', '.join(notes)}" if notes else line

    def edge_line(self, edge: Edge, name_of: NameOf) -> str:
        """Gives an edge as Turtle on one line, with its description where it has properties."""
        names = Names(self.namespace)
        term = names.to_term(edge.type)
        source, target = name_of(edge.source), name_of(edge.target)
        predicate = "a" if term == TYPE else names.show(term)
        line = f"{source} {predicate} {target} ."
        if edge.properties:
            about = f"rdf:subject {source} ; rdf:predicate {names.show(term)} ; rdf:object {target}"
            line += f" [] {about} ; {' ; '.join(_pairs(edge.properties, names))} ."
        return f"{line} # inferred" if edge.inferred else line


def dialect(namespace: str) -> TurtleDialect:
    """Gives the dialect for a default namespace."""
    page = read_dialect_page((files("kgot_rdf") / "dialect.md").read_text("utf-8"), "sparql")
    return TurtleDialect(
        language="SPARQL",
        fence="sparql",
        guide=page.guide,
        write_examples=page.write_examples,
        query_examples=page.query_examples,
        invalid_example=page.invalid_example,
        namespace=namespace,
    )


def _pairs(properties: Properties, names: Names) -> list[str]:
    return [f"{names.show(names.to_term(name))} {_objects(value, names)}" for name, value in properties.items()]


def _objects(value: Value, names: Names) -> str:
    items = value if isinstance(value, tuple) else (value,)
    return ", ".join(_object(to_term(item), names) for item in items) or "()"


def _object(term: Term, names: Names) -> str:
    text, language, datatype = read_literal(term)
    if datatype in _BARE and _BARE[datatype].fullmatch(text):
        return text
    if not datatype or language:
        return term
    plain = term[: -len(f"^^<{datatype}>")]
    return f"{plain}^^{names.show(f'<{datatype}>')}"
