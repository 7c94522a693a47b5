"""Names of the neutral graph and the IRIs that stand for them: labels, edge types, properties, keys of nodes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

from kgot_rdf.terms import RDF, XSD, Term, is_iri_text, is_literal

DEFAULT_NAMESPACE = "http://kgot.example/"
PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "rdf": RDF,
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "xsd": XSD,
        "owl": "http://www.w3.org/2002/07/owl#",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "schema": "http://schema.org/",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "genid": "urn:kgot:genid:",
    }
)
TYPE = f"<{RDF}type>"
STATEMENT = f"<{RDF}Statement>"
SUBJECT, PREDICATE, OBJECT = f"<{RDF}subject>", f"<{RDF}predicate>", f"<{RDF}object>"
GENID = PREFIXES["genid"]
# Says that a node without labels and properties is there, and the order of a property's values.
NODE = "<urn:kgot:Node>"
VALUES = "<urn:kgot:values>"

_FIRST = (
    "A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd\U00020000-\U0002fffd"
    "\U00030000-\U0003fffd"
)
LOCAL_CHARS = f"{_FIRST}\u00b7\u0300-\u036f\u203f-\u2040-"
_LOCAL = re.compile(rf"(?:[{_FIRST}]|%[0-9A-Fa-f]{{2}})(?:[{LOCAL_CHARS}]|%[0-9A-Fa-f]{{2}})*")
_OUTSIDE = re.compile(rf"[^{LOCAL_CHARS}]")
_SHORT = re.compile(r"([A-Za-z][\w-]*)?:(.*)", re.DOTALL)
_MOST_KEY = 80
_MOST_NAMES = 10_000


class Names:
    """The two directions between names and IRIs, for one default namespace.

    Args:
        namespace: What ``:`` stands for.
    """

    def __init__(self, namespace: str = DEFAULT_NAMESPACE) -> None:
        self.namespace = namespace
        self._named: dict[Term, str] = {}

    def to_term(self, name: str) -> Term:
        """Gives the IRI of a label, an edge type or a property's name.

        ``rdfs:label`` and absolute IRIs stand for themselves, all else lies in the default namespace.
        """
        known = self._known(name)
        if known:
            return known
        return f"<{self.namespace}{_encoded(name)}>"

    def to_name(self, term: Term) -> str:
        """Gives the name of an IRI; :meth:`to_term` of it is the IRI again."""
        if term not in self._named:
            if len(self._named) > _MOST_NAMES:
                self._named.clear()
            self._named[term] = self._to_name(term)
        return self._named[term]

    def _to_name(self, term: Term) -> str:
        value = term[1:-1]
        if value.startswith(self.namespace):
            name = unquote(value[len(self.namespace) :], errors="replace")
            if self.to_term(name) == term:
                return name
        for prefix, start in PREFIXES.items():
            if value.startswith(start) and _LOCAL.fullmatch(value, len(start)):
                return f"{prefix}:{value[len(start) :]}"
        return value if self.to_term(value) == term else term

    def show(self, term: Term) -> str:
        """Gives an IRI as it is written in a statement: ``:Turku``, ``foaf:name`` or ``<http://kg.example/x>``."""
        if is_literal(term):
            return term
        value = term[1:-1]
        if value.startswith(self.namespace) and _LOCAL.fullmatch(value, len(self.namespace)):
            return f":{value[len(self.namespace) :]}"
        for prefix, start in PREFIXES.items():
            if value.startswith(start) and _LOCAL.fullmatch(value, len(start)):
                return f"{prefix}:{value[len(start) :]}"
        return term

    def read_key(self, key: str) -> Term:
        """Gives the IRI that a node's key stands for, empty where it is not one that :meth:`show` gives."""
        if key.startswith("<") and key.endswith(">") and is_iri_text(key[1:-1]):
            return key
        found = _SHORT.fullmatch(key)
        if found is None or not _LOCAL.fullmatch(found[2]):
            return ""
        start = PREFIXES.get(found[1]) if found[1] else self.namespace
        return f"<{start}{found[2]}>" if start else ""

    def make_key(self, name: str) -> Term:
        """Gives an IRI of the default namespace that is easy to write, for a node with this name."""
        plain = _OUTSIDE.sub("_", unicodedata.normalize("NFC", name.strip()))[:_MOST_KEY]
        local = re.sub(r"_+", "_", plain).strip("_-")
        return f"<{self.namespace}{local if _LOCAL.fullmatch(local) else f'node_{local}'.rstrip('_')}>"

    def _known(self, name: str) -> Term:
        if ":" not in name:
            return ""
        if name.startswith("<") and name.endswith(">") and is_iri_text(name[1:-1]):
            return name if self.to_name(name) == name else ""
        prefix, _, local = name.partition(":")
        if prefix in PREFIXES:
            return f"<{PREFIXES[prefix]}{local}>" if _LOCAL.fullmatch(local) else ""
        whole = is_iri_text(name) and ("://" in name or name.startswith("urn:"))
        return f"<{name}>" if whole and not name.startswith(self.namespace) and not _short(name) else ""


def _short(value: str) -> bool:
    return any(
        value.startswith(start) and _LOCAL.fullmatch(value, len(start)) is not None for start in PREFIXES.values()
    )


def _encoded(name: str) -> str:
    return _OUTSIDE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)
