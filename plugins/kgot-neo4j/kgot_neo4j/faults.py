"""Turns what the driver raises into the few errors of the contract, one clear line each."""

from __future__ import annotations

import re

from kgot_core.errors import QueryError, Refused, StoreError, StoreUnavailable

_PLACE = re.compile(r"\s*\(line (\d+), column (\d+) \(offset: \d+\)\)")
_INTERNAL = re.compile(r"\b([Nn]ode|[Rr]elationship)(?:<\d+>|\(\d+\)|\[\d+\])|\b[45]:[0-9a-f-]{36}:\d+\b")
_TRIED = re.compile(r" \(resolved to \([^()]*(?:\([^()]*\)[^()]*)*\)\)")
_MEMORY = ("OutOfMemory", "MemoryPool")
_MOST = 700


def is_driver_error(error: BaseException) -> bool:
    """Tells whether the driver raised it."""
    from neo4j.exceptions import DriverError, Neo4jError

    return isinstance(error, Neo4jError | DriverError)


def may_pass(error: BaseException) -> bool:
    """Tells by the driver's own rule whether another try may help; memory that a statement used up is its fault."""
    from neo4j.exceptions import DriverError, Neo4jError

    if isinstance(error, Neo4jError) and any(mark in (error.code or "") for mark in _MEMORY):
        return False
    return isinstance(error, Neo4jError | DriverError) and error.is_retryable()


def translated(error: BaseException, seconds: float = 0.0) -> StoreError:
    """Gives the error for the core."""
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    if isinstance(error, StoreError):
        return error
    if isinstance(error, AuthError):
        return Refused(f"Neo4j refuses the user or password: {_cut(error.message or '')}")
    if isinstance(error, Neo4jError):
        return _of_server(error, seconds)
    if isinstance(error, DriverError):
        if error.is_retryable() or type(error).__name__ in _AWAY:
            return StoreUnavailable(f"Neo4j does not answer: {first_line(error)}")
        return QueryError(f"the driver refuses it: {first_line(error)}")
    return QueryError(f"the statement cannot be sent: {first_line(error)}")


_AWAY = frozenset({"ServiceUnavailable", "SessionExpired", "IncompleteCommit", "SessionError", "ResultError"})


def _of_server(error: Exception, seconds: float) -> StoreError:
    code = str(getattr(error, "code", "") or "")
    message = str(getattr(error, "message", "") or "")
    if "TimedOut" in code:
        return QueryError(f"the statement took longer than {seconds:g} seconds; ask for less")
    if any(mark in code for mark in _MEMORY):
        return QueryError("the statement needs more memory than the server gives one; ask for less")
    if "Transaction.Terminated" in code or "LockClientStopped" in code:
        return QueryError("the statement was cancelled; nothing was changed")
    if "AccessMode" in code:
        return QueryError("a query may only read, not write")
    if "ProcedureNotFound" in code:
        return QueryError(f"{_cut(message)}; use plain Cypher instead")
    if "DatabaseNotFound" in code:
        return Refused(f"there is no such database: {_cut(message)}")
    if "DatabaseUnavailable" in code or code.startswith("Neo.TransientError"):
        return StoreUnavailable(f"Neo4j cannot do it now: {_cut(message)}")
    if code.startswith("Neo.ClientError.Security"):
        return Refused(f"Neo4j does not allow it: {_cut(message)}")
    return statement_error(message)


def statement_error(message: str) -> QueryError:
    """Gives a statement's own error: cause and position, without the statement and without the store's own ids."""
    place = _PLACE.search(message)
    cause = message[: place.start()] if place else message.partition('\n"')[0]
    if "can only be of primitive types" in cause:
        cause = cause.partition(". Encountered")[0] + "; give each entry of the map a property of its own"
    line, column = (int(place[1]), int(place[2])) if place else (0, 0)
    return QueryError(_cut(cause), line, column)


def _cut(text: str) -> str:
    text = " ".join(_INTERNAL.sub(lambda found: f"a {found[1].lower()}" if found[1] else "an element", text).split())
    return text if len(text) <= _MOST else f"{text[:_MOST]} […]"


def first_line(error: BaseException) -> str:
    """Gives the beginning of an error's message."""
    text = str(error).strip() or type(error).__name__
    # The driver lists every address that it tried, on further lines.
    return _TRIED.sub("", text.splitlines()[0]).removesuffix(":")[:300]
