"""The sandbox ``auto``: the best one that works here, never none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kgot_core.contracts.sandbox import Sandbox
from kgot_core.errors import KgotError, SandboxError
from kgot_core.providers import Problem, SandboxProvider


def choose(providers: Iterable[SandboxProvider], settings_of: Callable[[SandboxProvider], Any]) -> tuple[Sandbox, str]:
    """Opens the first sandbox by rank that is ready here.

    Model-written code is never run without one: where none is ready, this is an error.

    Args:
        providers: Those that are installed; one without a rank is never chosen.
        settings_of: Gives a provider's settings.

    Returns:
        The sandbox, and one line that says which it is and why a better one was passed over.

    Raises:
        SandboxError: None is ready; the message names each with its problem.
    """
    ranked = sorted((provider for provider in providers if provider.rank is not None), key=_order)
    passed_over: list[str] = []
    for provider in ranked:
        settings = settings_of(provider)
        problem, sandbox = _try(provider, settings)
        if sandbox is not None:
            return sandbox, "; ".join([f"scripts run in the sandbox {provider.name}", *passed_over])
        hint = f" ({problem.hint})" if problem.hint else ""
        passed_over.append(f"{provider.name} is not ready: {problem.message}{hint}")
    if not ranked:
        raise SandboxError("no sandbox for Python is installed", hint="install one, or name one in the settings")
    raise SandboxError(f"no sandbox for Python works here: {'; '.join(passed_over)}")


def _order(provider: SandboxProvider) -> tuple[int, str]:
    return provider.rank or 0, provider.name


def _try(provider: SandboxProvider, settings: Any) -> tuple[Problem, Sandbox | None]:
    try:
        problem = provider.check(settings)
        if problem is not None:
            return problem, None
        return Problem(""), provider.open(settings)
    except KgotError as error:
        return Problem(error.message, error.hint), None
    except (Exception, SystemExit) as error:
        # A third party's sandbox that breaks is one that is not ready; the next one may be.
        return Problem(f"{type(error).__name__}: {error}"), None
