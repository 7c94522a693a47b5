"""Asks plugins whether they are ready, and opens them; whatever a plugin raises becomes one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kgot_core.contracts.model import ModelSpec, Role
from kgot_core.contracts.tools import ToolPart
from kgot_core.errors import KgotError, PluginError, UsageError
from kgot_core.providers import BackendProvider, ModelProvider, Problem, Provider, ToolProvider
from kgot_core.run.faults import said
from kgot_core.settings import Settings, provider_settings

T = TypeVar("T")


def problem_of(provider: Provider, settings: Any) -> Problem | None:
    """Asks a provider whether it is ready.

    Args:
        provider: The provider.
        settings: Its settings; the named model for a model provider.
    """
    return _asked(provider.check, settings)


def unreachable(provider: Provider, settings: Any, keep: bool) -> Problem | None:
    """Asks a store's provider whether a run could start on its server; ``None`` where it has none.

    Args:
        provider: The provider.
        settings: Its settings.
        keep: Runs go on with what the store holds.
    """
    reach = provider.reach if isinstance(provider, BackendProvider) else None
    return _asked(lambda values: reach(values, keep), settings) if reach else None


def parts_of(provider: Provider, settings: Any) -> Sequence[ToolPart]:
    """Asks a tool's provider what each of the places that its tools come from offers; empty where it has one."""
    ask = provider.parts if isinstance(provider, ToolProvider) else None
    if ask is None:
        return ()
    try:
        return tuple(ask(settings))
    except KgotError as error:
        return (ToolPart("its parts", problem=error.message, hint=error.hint),)
    except (Exception, SystemExit) as error:
        return (ToolPart("its parts", problem=f"they cannot be looked at: {said(error)}"),)


def _asked(ask: Callable[[Any], Problem | None], settings: Any) -> Problem | None:
    try:
        return ask(settings)
    except KgotError as error:
        return Problem(error.message, error.hint)
    except (Exception, SystemExit) as error:
        return Problem(f"its check failed: {said(error)}")


def problem_of_model(provider: ModelProvider, spec: ModelSpec, role: Role) -> Problem | None:
    """Asks a provider whether a model is ready for a role."""
    if role == "embedding" and provider.embed is None:
        return Problem(f"{provider.name}: has no embedding models", "name one of another provider, or none")
    return problem_of(provider, spec)


def ready_settings(settings: Settings, provider: Provider) -> Any:
    """Gives the settings of a provider that is ready.

    Raises:
        UsageError: It is not; the message says why.
    """
    values = provider_settings(settings, provider)
    if problem := problem_of(provider, values):
        raise UsageError(f"{provider.kind} {provider.name}: {problem.message}", hint=problem.hint)
    return values


def opened(provider: Provider, function: Callable[[], T]) -> T:
    """Opens what a provider offers.

    Raises:
        PluginError: It raised something else than one of our own errors.
    """
    try:
        return function()
    except KgotError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{provider.kind} {provider.name} cannot be opened: {said(error)}") from error
