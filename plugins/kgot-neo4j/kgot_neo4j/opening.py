"""Opens the graph of a run in a database: whose it is, what is there, and what becomes of it."""

from __future__ import annotations

import uuid
from dataclasses import replace
from importlib.resources import files

from kgot_core.contracts.backend import OpenContext
from kgot_core.errors import KgotError, Refused, StoreUnavailable
from kgot_core.providers import Problem
from kgot_neo4j.backend import Neo4jBackend
from kgot_neo4j.connection import Connection, WrongPassword
from kgot_neo4j.faults import is_driver_error, translated
from kgot_neo4j.lease import Lease, State, clear, holds_other, in_use, read_state
from kgot_neo4j.settings import Neo4jSettings

__all__ = ["WrongPassword", "open_graph", "reach"]


def open_graph(settings: Neo4jSettings, context: OpenContext) -> Neo4jBackend:
    """Connects, takes the hold on the database and brings it into the state that the scope asks for.

    Raises:
        UsageError: The settings cannot be used.
        Refused: The database is used by another run, or holds what kgot did not make.
        StoreUnavailable: No server answers.
    """
    connection = Connection(settings, f"{context.run or context.scope.name} {uuid.uuid4().hex}")
    try:
        connection.ready()
        try:
            return _opened(connection, settings, context)
        except Exception as error:
            if not is_driver_error(error):
                raise
            raise translated(error) from None
    except BaseException:
        connection.close()
        raise


def reach(settings: Neo4jSettings, keep: bool) -> Problem | None:
    """Tells why a run could not start on the database; a password is tried once, and nothing is written.

    Args:
        settings: The settings.
        keep: Runs go on with what the database holds.
    """
    connection = Connection(replace(settings, start_seconds=0.0), "kgot doctor")
    try:
        connection.ready()
        with connection.session() as session, session.begin_transaction(**connection.limits(30)) as read:
            state = read_state(read, settings.lease_seconds)
        if state.held_by:
            raise in_use(connection, state)
        if not state.empty and not state.own and not keep and settings.existing == "refuse":
            raise holds_other(connection, state)
    except StoreUnavailable as error:
        compose = files("kgot_neo4j") / "compose.yaml"
        start = f"KGOT_BACKENDS__NEO4J__PASSWORD=... docker compose -f {compose} up --wait"
        return Problem(error.message, f"{start}; or set backends.neo4j.uri")
    except KgotError as error:
        return Problem(error.message, error.hint)
    finally:
        connection.close()
    return None


def _opened(connection: Connection, settings: Neo4jSettings, context: OpenContext) -> Neo4jBackend:
    keep = context.scope.mode == "keep" or settings.existing == "keep"
    # Nothing is written, not even the hold, before it is known that the database may be used.
    with connection.session() as session, session.begin_transaction(**connection.limits(30)) as read:
        state = read_state(read, settings.lease_seconds)
    if context.scope.mode == "read_only":
        backend = Neo4jBackend(connection, None)
        backend.load()
        return backend
    if state.held_by:
        raise in_use(connection, state)
    _allowed(connection, state, settings, context, keep)
    lease = Lease(connection, context.run or context.scope.name)
    state = lease.take()
    try:
        _allowed(connection, state, settings, context, keep)
        if not keep and not state.empty:
            clear(connection)
        # What was to be kept is no later run's to clear.
        lease.start(not keep, state.nodes if keep else 0, state.edges if keep else 0, keep and context.resume)
        backend = Neo4jBackend(connection, lease)
        if keep:
            backend.load()
        return backend
    except BaseException:
        lease.release()
        raise


def _allowed(connection: Connection, state: State, settings: Neo4jSettings, context: OpenContext, keep: bool) -> None:
    if state.empty or state.own or keep:
        return
    if context.resume and settings.existing != "replace":
        raise Refused(
            f"the database {connection.database} at {connection.where} holds what kgot did not make, so that the run's "
            "own part cannot be restored there",
            hint="resume on an empty database: backends.neo4j.database or backends.neo4j.uri",
        )
    if settings.existing == "refuse":
        raise holds_other(connection, state)
