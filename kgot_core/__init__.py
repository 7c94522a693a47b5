"""Knowledge Graph of Thoughts: hard questions, cheap models, and a graph of what was found out.

``solve`` answers one question, ``resume`` goes on with a run that was broken off, ``open`` gives a session for many.
Everything else that is public stands in ``__all__``; plugins use ``kgot_core.hookspecs``, ``providers``, ``contracts``,
``events``, ``errors``, ``graph`` and ``testing``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgot_core.contracts.task import Answer, Evidence, Task, Usage
    from kgot_core.errors import KgotError, UsageError
    from kgot_core.hookspecs import hookimpl
    from kgot_core.session.library import open_session as open
    from kgot_core.session.library import resume, solve
    from kgot_core.session.session import Session

_PLACES = {
    "Answer": ("kgot_core.contracts.task", "Answer"),
    "Evidence": ("kgot_core.contracts.task", "Evidence"),
    "KgotError": ("kgot_core.errors", "KgotError"),
    "Session": ("kgot_core.session.session", "Session"),
    "Task": ("kgot_core.contracts.task", "Task"),
    "Usage": ("kgot_core.contracts.task", "Usage"),
    "UsageError": ("kgot_core.errors", "UsageError"),
    "hookimpl": ("kgot_core.hookspecs", "hookimpl"),
    "open": ("kgot_core.session.library", "open_session"),
    "resume": ("kgot_core.session.library", "resume"),
    "solve": ("kgot_core.session.library", "solve"),
}

__all__ = [
    "Answer",
    "Evidence",
    "KgotError",
    "Session",
    "Task",
    "Usage",
    "UsageError",
    "hookimpl",
    "open",
    "resume",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Imports a public name on its first use: ``import kgot_core`` alone costs next to nothing."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
