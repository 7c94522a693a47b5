"""Finds the tools of a session: those of the settings, and those that were passed in code."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, cast

from kgot_core import providers
from kgot_core.errors import KgotError, UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.run.faults import said
from kgot_core.run.parts import ToolEntry
from kgot_core.session.checks import problem_of
from kgot_core.settings import Settings, provider_settings


def find_tools(registry: PluginRegistry, settings: Settings, given: Sequence[Any]) -> list[ToolEntry]:
    """Finds the tools; one passed in code takes the place of one of the settings that has its name.

    Raises:
        UsageError: Something passed in code cannot be a tool, or two of them have one name.
        PluginError: A name of the settings is not installed, or two packages bring it.
    """
    enabled, disabled = settings.core.tools.enabled, settings.core.tools.disabled
    for name in disabled:
        registry.get("tool", name)
    offered = [cast(providers.ToolProvider, provider) for _, provider in registry.all("tool")]
    names = enabled or sorted({provider.name for provider in offered if provider.default})
    # Asked for by name, so that two tools of one name are refused and not chosen by chance.
    chosen = [cast(providers.ToolProvider, registry.get("tool", name)) for name in names if name not in disabled]
    own = [_given_tool(tool) for tool in given]
    taken = [entry.provider.name for entry in own]
    if twice := sorted({name for name in taken if taken.count(name) > 1}):
        raise UsageError(f"two tools passed in code are called {twice[0]}", hint="give one of them another name")
    kept = sorted((provider for provider in chosen if provider.name not in taken), key=lambda provider: provider.name)
    # Those passed in code come first: a tool of one name that a provider makes later is left out with a line.
    return [*own, *(_tool_entry(settings, provider) for provider in kept)]


def _tool_entry(settings: Settings, provider: providers.ToolProvider) -> ToolEntry:
    values = provider_settings(settings, provider)
    problem = problem_of(provider, values)
    return ToolEntry(provider, values, str(KgotError(problem.message, hint=problem.hint)) if problem else "")


def _given_tool(given: Any) -> ToolEntry:
    from langchain_core.tools import BaseTool, StructuredTool

    if isinstance(given, BaseTool):
        tool = given
    elif callable(given) and not isinstance(given, type):
        make = {"coroutine": given} if inspect.iscoroutinefunction(given) else {"func": given}
        try:
            tool = StructuredTool.from_function(**make)
        except Exception as error:  # what LangChain needs of a function is its own affair, and so are its errors
            name = getattr(given, "__name__", type(given).__name__)
            raise UsageError(
                f"the function {name} cannot be a tool: {said(error)}",
                hint="a tool is a function with a docstring and annotated arguments, or a LangChain tool",
            ) from error
    else:
        name = given.__name__ if isinstance(given, type) else type(given).__name__
        raise UsageError(f"a tool is a LangChain tool or a function, not {name}")
    provider = providers.ToolProvider(name=tool.name, summary="passed in code", create=lambda settings, context: [tool])
    return ToolEntry(provider, tools=[tool])
