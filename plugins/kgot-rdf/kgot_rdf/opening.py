"""Puts backend, store and settings together."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_rdf.backend import RdfBackend
from kgot_rdf.embedded import EmbeddedStore
from kgot_rdf.rules import read_rules
from kgot_rdf.settings import GraphSettings, RdfSettings, RemoteSettings


def open_embedded(settings: RdfSettings, context: OpenContext) -> GraphBackend:
    """Opens a graph in a child process.

    Raises:
        StoreUnavailable: The process cannot be started, or shapes or rules cannot be used.
    """
    options = worker_options(settings)
    if settings.folder:
        folder = Path(settings.folder) / _folder_name(context.scope.name)
        folder.mkdir(parents=True, exist_ok=True)
        options["folder"] = str(folder)
    backend = RdfBackend(settings, context)
    store = EmbeddedStore(options, lambda: backend.record, settings.load_seconds)
    backend.use(store, keep=context.scope.mode != "new")
    return backend


def open_remote(settings: RemoteSettings, context: OpenContext) -> GraphBackend:
    """Opens a graph on a server.

    Raises:
        StoreUnavailable: The server cannot be used, or shapes or rules cannot be.
    """
    from kgot_rdf.remote import RemoteStore

    backend = RdfBackend(settings, context)
    options = worker_options(settings)
    reasons = settings.shapes or settings.inference != "none" or settings.rules
    reasoner = EmbeddedStore(options, lambda: backend.record, settings.load_seconds) if reasons else None
    store = RemoteStore(settings, context.scope, lambda: backend.record, reasoner)
    backend.use(store, keep=context.scope.mode != "new")
    return backend


def worker_options(settings: GraphSettings) -> dict[str, Any]:
    """Gives what the child process is started with."""
    return {
        "memory_mb": settings.memory_mb,
        "shapes": settings.shapes,
        "inference": settings.inference,
        "rules": list(read_rules(settings.rules, settings.namespace)) if settings.rules else [],
    }


def _folder_name(scope: str) -> str:
    plain = re.sub(r"[^\w.-]", "_", scope)[:60].strip(".") or "graph"
    return plain if plain == scope else f"{plain}-{hashlib.sha256(scope.encode()).hexdigest()[:8]}"
