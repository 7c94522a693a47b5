"""The graph store of a session: by its name, passed in code, or a slot of a pool for each run."""

from __future__ import annotations

from typing import Any

from kgot_core import providers
from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.pool.leasing import Slots
from kgot_core.pool.sources import open_slots
from kgot_core.session.checks import ready_settings
from kgot_core.session.starting import refuse_keeping
from kgot_core.settings import Settings


def open_pool(registry: PluginRegistry, settings: Settings, given: Any) -> Slots | None:
    """Opens the pool of which runs lease a slot; ``None`` where the settings name none.

    Raises:
        KgotError: It is not there, or none of its slots can be used.
    """
    if given is not None:
        return None
    provider, values = _store(registry, settings)
    return open_slots(settings, provider, values)


def _store(registry: PluginRegistry, settings: Settings) -> tuple[providers.BackendProvider, Any]:
    names = settings.core.backend
    provider: Any = registry.get("backend", names[0]) if names else registry.default_backend()
    return provider, ready_settings(settings, provider)


def open_store(registry: PluginRegistry, settings: Settings, given: Any, slots: Slots | None) -> tuple[str, Any]:
    """Gives the name of the store, and a function that opens a graph of it.

    Args:
        registry: The plugins.
        settings: The settings.
        given: What was passed in code; ``None`` takes the store that the settings name.
        slots: The pool of which runs lease a slot.

    Raises:
        UsageError: It is none, or not ready.
        PluginError: The name is not installed.
    """
    if isinstance(given, GraphBackend):
        return type(given).__name__, lambda context: given
    if callable(given):
        return getattr(given, "__name__", type(given).__name__), given
    if given is not None:
        raise UsageError(
            f"a backend passed in code is a GraphBackend or a function that opens one, not {type(given).__name__}",
            hint="the name of a backend goes into the settings, as backend",
        )
    provider, values = _store(registry, settings)
    refuse_keeping(provider, values, settings)

    def open_backend(context: OpenContext) -> GraphBackend:
        own = slots.settings(context.slot) if slots is not None else values
        return provider.open(own, context)

    return provider.name, open_backend
