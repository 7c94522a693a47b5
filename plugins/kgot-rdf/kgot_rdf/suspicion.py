"""A second opinion on a query that may hide a call to another server: the syntax tree of rdflib's parser."""

from __future__ import annotations

from typing import Any

from kgot_core.errors import QueryError


def refuse_hidden(query: str) -> None:
    """Refuses a query whose syntax tree holds a ``SERVICE``; one that rdflib cannot read passes.

    Raises:
        QueryError: There is one.
    """
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        tree = parseQuery(query)
    except Exception:  # its parser has many; what it cannot read, the tokens have judged
        return
    if _holds(tree):
        raise QueryError("SERVICE is not allowed: only the task's graph may be asked")


def _holds(tree: Any) -> bool:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if getattr(part, "name", "") == "ServiceGraphPattern":
            return True
        if hasattr(part, "values") and callable(part.values):
            waiting += part.values()
        elif not isinstance(part, str) and hasattr(part, "__iter__"):
            waiting += list(part)
    return False
