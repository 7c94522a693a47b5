"""Refuses what no statement of a model may do, by tokens: words inside strings and names do not count."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from kgot_neo4j.cypher.clauses import every, read_clauses
from kgot_neo4j.cypher.names import names_reserved
from kgot_neo4j.cypher.tokens import Token

_ADMINISTRATION = frozenset(
    {"ALTER", "DROP", "GRANT", "DENY", "REVOKE", "SHOW", "START", "STOP", "RENAME", "ENABLE", "DEALLOCATE",
     "REALLOCATE", "DRYRUN", "TERMINATE", "LOAD", "USE", "USING", "CYPHER", "EXPLAIN", "PROFILE"}
)  # fmt: skip
_CREATED = frozenset(
    {"DATABASE", "COMPOSITE", "USER", "ROLE", "INDEX", "CONSTRAINT", "ALIAS", "RANGE", "TEXT", "POINT", "LOOKUP",
     "FULLTEXT", "VECTOR", "BTREE", "OR", "SERVER", "IMMUTABLE"}
)  # fmt: skip
_PROCEDURES = (
    "db.labels", "db.relationshiptypes", "db.propertykeys", "db.schema.", "db.index.fulltext.query",
    "db.index.vector.query",
)  # fmt: skip
# None of these runs Cypher that stands in a text, as apoc.meta.data.of and apoc.cypher.run do, or opens an address.
_APOC = (
    "apoc.agg.", "apoc.algo.", "apoc.any.", "apoc.coll.", "apoc.convert.to", "apoc.convert.from", "apoc.date.",
    "apoc.hashing.", "apoc.map.", "apoc.math.", "apoc.meta.cypher.", "apoc.neighbors.", "apoc.node.",
    "apoc.nodes.relationship", "apoc.number.", "apoc.path.", "apoc.rel.", "apoc.temporal.", "apoc.text.",
)  # fmt: skip
_APOC_NAMES = frozenset(
    {"apoc.label.exists", "apoc.meta.data", "apoc.meta.graph", "apoc.meta.graphsample", "apoc.meta.nodes.count",
     "apoc.meta.nodetypeproperties", "apoc.meta.reltypeproperties", "apoc.meta.schema", "apoc.meta.stats",
     "apoc.nodes.connected", "apoc.nodes.isdense", "apoc.util.md5", "apoc.version"}
)  # fmt: skip
_FUNCTIONS = (
    "date.", "datetime.", "localdatetime.", "time.", "localtime.", "duration.", "point.", "vector.similarity.",
    "graph.names", "db.namefromelementid",
)  # fmt: skip
_WRITING = frozenset({"CREATE", "MERGE", "SET", "DELETE", "REMOVE", "FOREACH"})


def refused(tokens: Sequence[Token], *, query: bool) -> str:
    """Tells why a statement may not be run; empty where it may.

    Args:
        tokens: One statement.
        query: It may only read.
    """
    if not tokens:
        return "the statement is empty"
    if names_reserved(tokens):
        return "names that begin with _KGOT are kgot's own; use another name"
    clauses = list(every(read_clauses(tokens)))
    if query and (writing := next((clause.word for clause in clauses if clause.word in _WRITING), "")):
        return f"a query may only read, not write: leave {writing} out"
    first, second = tokens[0].upper, tokens[1].upper if len(tokens) > 1 else ""
    if first in _ADMINISTRATION or (first == "CREATE" and second in _CREATED):
        return (
            f"{first if first in _ADMINISTRATION else f'CREATE {second}'} is not allowed here; read or write the graph"
        )
    for clause in clauses:
        if clause.word == "LOAD":
            return "LOAD CSV is not allowed here; write the values into the statement"
        if clause.word == "USE":
            return "USE is not allowed here; the graph is chosen already"
    for left, right in itertools.pairwise(tokens):
        if left.upper == "IN" and right.upper in ("TRANSACTIONS", "CONCURRENT"):
            return "CALL { ... } IN TRANSACTIONS is not allowed here; leave IN TRANSACTIONS out"
    if any(token.upper == "TRANSACTIONS" for token in tokens):
        return "CALL { ... } IN TRANSACTIONS is not allowed here; leave IN TRANSACTIONS out"
    return _called(tokens)


def _called(tokens: Sequence[Token]) -> str:
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token.kind not in ("word", "name") or (place and tokens[place - 1].text in (".", ":")):
            place += 1
            continue
        end = place
        name = token.value
        while end + 2 < len(tokens) and tokens[end + 1].text == "." and tokens[end + 2].kind in ("word", "name"):
            end += 2
            name += "." + tokens[end].value
        procedure = bool(place) and tokens[place - 1].upper == "CALL"
        function = "." in name and end + 1 < len(tokens) and tokens[end + 1].text == "("
        if (procedure or function) and not _allowed(name.lower(), procedure=procedure):
            kind = "procedure" if procedure else "function"
            return f"the {kind} {name} is not available here; use plain Cypher, such as MATCH and MERGE"
        place = end + 1
    return ""


def _allowed(name: str, *, procedure: bool) -> bool:
    return name in _APOC_NAMES or name.startswith((*_APOC, *(_PROCEDURES if procedure else _FUNCTIONS)))
