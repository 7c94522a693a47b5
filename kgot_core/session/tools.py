"""Finds the tools of a session: those of the settings, and those that were passed in code."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, cast

from kgot_core import providers
from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.run.parts import ToolEntry
from kgot_core.settings import Settings, provider_settings


def find_tools(registry: PluginRegistry, settings: Settings, given: Sequence[Any]) -> list[ToolEntry]:
    enabled, disabled = settings.core.tools.enabled, settings.core.tools.disabled
    for name in disabled:
        registry.get("tool", name)
    offered = [cast(providers.ToolProvider, provider) for _, provider in registry.all("tool")]
    names = enabled or sorted({provider.name for provider in offered if provider.default})
    # Asked for by name, so that two tools of one name are refused and not chosen by chance.
    chosen = [cast(providers.ToolProvider, registry.get("tool", name)) for name in names if name not in disabled]
    entries = [_tool_entry(settings, provider) for provider in sorted(chosen, key=lambda provider: provider.name)]
    return [*entries, *(_given_tool(tool) for tool in given)]


def _tool_entry(settings: Settings, provider: providers.ToolProvider) -> ToolEntry:
    values = provider_settings(settings, provider)
    problem = provider.check(values)
    return ToolEntry(provider, values, problem.message if problem else "")


def _given_tool(given: Any) -> ToolEntry:
    from langchain_core.tools import BaseTool, StructuredTool

    if isinstance(given, BaseTool):
        tool = given
    elif callable(given):
        make = {"coroutine": given} if inspect.iscoroutinefunction(given) else {"func": given}
        tool = StructuredTool.from_function(**make)
    else:
        raise UsageError(f"a tool is a LangChain tool or a function, not {type(given).__name__}")
    provider = providers.ToolProvider(name=tool.name, summary="passed in code", create=lambda settings, context: [tool])
    return ToolEntry(provider, tools=[tool])
