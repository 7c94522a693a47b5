"""Faults of the graph store, as the record holds them and as stages meet them."""

from __future__ import annotations

from typing import Any

from kgot_core.errors import QueryError, StoreError, StoreUnavailable
from kgot_core.events import GraphQueried, GraphWritten

AWAY = "the graph store is away"
FAILED = "the graph store failed"


def is_lost(event: GraphQueried | GraphWritten) -> bool:
    """Tells whether a call ended because of the store, not of its statement."""
    return event.error.startswith((f"{AWAY}: ", f"{FAILED}: "))


def fault_fields(error: StoreError) -> dict[str, Any]:
    """Gives an error as events hold it, so that a repeated run meets it again."""
    if isinstance(error, QueryError):
        return {"error": error.message, "line": error.line, "column": error.column}
    return {"error": f"{AWAY if isinstance(error, StoreUnavailable) else FAILED}: {error}"}


def recorded_error(event: GraphQueried | GraphWritten) -> StoreError:
    prefix, _, cause = event.error.partition(": ")
    if prefix == AWAY:
        return StoreUnavailable(cause)
    return StoreError(cause) if prefix == FAILED else QueryError(event.error, event.line, event.column)
