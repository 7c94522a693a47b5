"""Puts backend, store and settings together."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from kgot_core.contracts.backend import GraphBackend, GraphScope, OpenContext
from kgot_core.errors import Refused
from kgot_rdf.backend import RdfBackend
from kgot_rdf.embedded import EmbeddedStore
from kgot_rdf.rules import read_rules
from kgot_rdf.settings import GraphSettings, RdfSettings, RemoteSettings
from kgot_rdf.store import Store


def open_embedded(settings: RdfSettings, context: OpenContext) -> GraphBackend:
    """Opens a graph in a child process.

    Raises:
        Refused: The graph is not there to be read, another run uses it, or settings cannot be used.
        StoreUnavailable: The process cannot be started.
    """
    scope = context.scope
    options = worker_options(settings, scope)
    if settings.folder:
        options |= {"folder": str(_folder(Path(settings.folder), scope)), "goes_on": context.resume}
    backend = RdfBackend(settings, context)
    store = EmbeddedStore(options, lambda: backend.record, settings.load_seconds)
    _use(backend, store, scope, settings, durable=bool(settings.folder))
    return backend


def open_remote(settings: RemoteSettings, context: OpenContext) -> GraphBackend:
    """Opens a graph on a server.

    Raises:
        StoreUnavailable: The server cannot be used, or shapes or rules cannot be.
    """
    from kgot_rdf.remote import RemoteStore

    backend = RdfBackend(settings, context)
    options = worker_options(settings, context.scope)
    reasons = bool(settings.shapes or settings.inference != "none" or settings.rules)
    # To a graph that is only read nothing can be added; what was inferred there before is read with the rest.
    reasons = reasons and context.scope.mode != "read_only"
    reasoner = EmbeddedStore(options, lambda: backend.record, settings.load_seconds) if reasons else None
    run = context.run or context.scope.name
    store = RemoteStore(settings, context.scope, run, lambda: backend.record, reasoner, context.resume)
    _use(backend, store, context.scope, settings, durable=True)
    return backend


def _use(backend: RdfBackend, store: Store, scope: GraphScope, settings: GraphSettings, *, durable: bool) -> None:
    try:
        backend.use(store, keep=scope.mode != "new", durable=durable, seconds=settings.load_seconds)
    except BaseException:
        store.close()
        raise


def worker_options(settings: GraphSettings, scope: GraphScope) -> dict[str, Any]:
    """Gives what the child process is started with."""
    only_read = scope.mode == "read_only"
    return {
        "only_read": only_read,
        "memory_mb": settings.memory_mb,
        "shapes": "" if only_read else settings.shapes,
        "inference": settings.inference,
        "rules": list(read_rules(settings.rules, settings.namespace)) if settings.rules else [],
    }


def _folder(parent: Path, scope: GraphScope) -> Path:
    """Gives the folder of a graph; one that is only read has to be there."""
    folder = parent / _folder_name(scope.name)
    if scope.mode == "read_only" and not folder.is_dir():
        there = sorted(path.name for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []
        shown = ", ".join(there[:10]) + (", ..." if len(there) > 10 else "")
        raise Refused(
            f"there is no graph {scope.name} in {parent}", hint=f"graphs there: {shown}" if there else "it holds none"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _folder_name(scope: str) -> str:
    plain = re.sub(r"[^\w.-]", "_", scope)[:60].strip(".") or "graph"
    return plain if plain == scope else f"{plain}-{hashlib.sha256(scope.encode()).hexdigest()[:8]}"
