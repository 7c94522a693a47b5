"""Asks a plugin's hooks for their providers, and checks what comes back."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pluggy

from kgot_core import hookspecs, providers
from kgot_core.providers import Provider

HOOKS: Mapping[str, type[Provider]] = MappingProxyType(
    {
        "kgot_graph_backends": providers.BackendProvider,
        "kgot_solvers": providers.SolverProvider,
        "kgot_tools": providers.ToolProvider,
        "kgot_voters": providers.VoterProvider,
        "kgot_schedulers": providers.SchedulerProvider,
        "kgot_strategies": providers.StrategyProvider,
        "kgot_models": providers.ModelProvider,
        "kgot_sandboxes": providers.SandboxProvider,
        "kgot_event_sinks": providers.SinkProvider,
        "kgot_graph_formats": providers.FormatProvider,
    }
)
"""The class of provider that each hook gives."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_MOST = 1_000


class BadPlugin(Exception):
    """A plugin does not keep the rules; the text says which."""


def manager() -> pluggy.PluginManager:
    """Makes an empty plugin manager that knows every hook."""
    made = pluggy.PluginManager(hookspecs.PROJECT)
    made.add_hookspecs(hookspecs)
    return made


def check_hooks(manager: pluggy.PluginManager, plugin: object) -> tuple[str, ...]:
    """Checks a plugin's hooks before it is registered, so that a refused one leaves nothing behind.

    Returns:
        Names of its hooks, sorted.

    Raises:
        BadPlugin: A hook is misspelt, not marked, or a wrapper; or there is none.
    """
    found: set[str] = set()
    for name in dir(plugin):
        marks = manager.parse_hookimpl_opts(plugin, name)
        if marks is None:
            if name in HOOKS and callable(getattr(plugin, name, None)):
                raise BadPlugin(f"its function {name} is not marked with @hookimpl")
            continue
        hook = marks.get("specname") or name
        if hook not in HOOKS:
            near = difflib.get_close_matches(hook, HOOKS, n=1, cutoff=0.5)
            raise BadPlugin(f"there is no hook {hook}" + (f": did you mean {near[0]}?" if near else ""))
        if marks.get("wrapper") or marks.get("hookwrapper"):
            raise BadPlugin(f"{hook} is a hook wrapper; a plugin can only give providers")
        found.add(hook)
    if not found:
        raise BadPlugin("it implements no hook: no function of it is marked with @hookimpl")
    return tuple(sorted(found))


def collect(manager: pluggy.PluginManager, name: str, hooks: Iterable[str]) -> tuple[Provider, ...]:
    """Calls each hook of one registered plugin.

    Args:
        manager: Where it is registered.
        name: The name under which it is registered.
        hooks: Names of its hooks.

    Raises:
        BadPlugin: What a hook gives is not a good provider.
        Exception: Whatever a hook raises.
    """
    made: list[Provider] = []
    for hook in hooks:
        for implementation in getattr(manager.hook, hook).get_hookimpls():
            if implementation.plugin_name == name:
                made.extend(_providers(hook, implementation.function))
    taken: set[tuple[str, str]] = set()
    for provider in made:
        if (provider.kind, provider.name) in taken:
            raise BadPlugin(f"it offers two providers of kind {provider.kind} with the name {provider.name}")
        taken.add((provider.kind, provider.name))
    return tuple(made)


def _providers(hook: str, function: Callable[[], Any]) -> list[Provider]:
    given = function()
    if isinstance(given, Provider) or not isinstance(given, Iterable):
        raise BadPlugin(f"{hook} must return a list of providers, not {_kind(given)}")
    made = list(itertools.islice(given, _MOST + 1))
    if len(made) > _MOST:
        raise BadPlugin(f"{hook} gives more than {_MOST} providers")
    for provider in made:
        if trouble := _trouble(hook, provider):
            raise BadPlugin(trouble)
    return made


def _trouble(hook: str, provider: object) -> str:
    wanted = HOOKS[hook]
    if not isinstance(provider, wanted):
        return f"{hook} must give objects of {wanted.__name__}, not {_kind(provider)}"
    if not isinstance(provider.name, str) or not _NAME.fullmatch(provider.name):
        return f"{hook} gives the name {provider.name!r}; a name is lower case letters, digits, - and _"
    functions = [field.name for field in dataclasses.fields(provider) if field.name in ("open", "create", "check")]
    for name in functions:
        if not callable(getattr(provider, name)):
            return f"{name} of the provider {provider.name} cannot be called"
    if isinstance(provider, providers.FormatProvider) and not (callable(provider.read) or callable(provider.write)):
        return f"the format {provider.name} can neither be read nor written"
    return _settings_trouble(provider)


def _settings_trouble(provider: Provider) -> str:
    kind: Any = provider.settings
    where = f"the settings of the provider {provider.name}"
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
        return f"{where} must be a dataclass, not {kind!r}"
    if not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return f"{where} must be a frozen dataclass"
    for field in dataclasses.fields(kind):
        missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.init and missing:
            return f"{where} need a default for {field.name}"
    return ""


def _kind(value: object) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__
