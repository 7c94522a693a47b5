"""Calls one tool by hand, with everything that it has in a run and nothing else of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.contracts.model import Reply, ToolCallRequest, ToolSpec
from kgot_core.contracts.options import Caps
from kgot_core.contracts.sandbox import SandboxLimits
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Usage
from kgot_core.contracts.tools import ToolResult
from kgot_core.errors import ModelError, UsageError
from kgot_core.graph.values import JsonValue
from kgot_core.models.embedding import Embedded
from kgot_core.plugins import PluginRegistry
from kgot_core.reading.toolcalls import nearest
from kgot_core.run.caps import Budget
from kgot_core.run.concurrency.common import Common
from kgot_core.run.desks.code import CodeDesk
from kgot_core.run.desks.embedding import Embedder, EmbeddingDesk
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.desks.model import Client, ModelDesk
from kgot_core.run.desks.tool_context import CallContext
from kgot_core.run.desks.toolbox import ToolDesk, unknown_tool
from kgot_core.run.lifecycle import close_all
from kgot_core.run.opening import open_tools
from kgot_core.run.parts import ToolEntry
from kgot_core.run.prompting.prompts import Prompts
from kgot_core.run.record.journal import Journal
from kgot_core.session.models import EMBEDDING, open_embedding, open_models
from kgot_core.session.opening import open_sandbox
from kgot_core.session.redaction import redactor
from kgot_core.session.tools import find_tools
from kgot_core.settings import Override, Settings


@dataclass(frozen=True)
class OneCall:
    """A tool that was called by hand.

    Attributes:
        result: What it gave.
        usage: What it asked of models.
    """

    result: ToolResult
    usage: Usage


async def call_tool(
    registry: PluginRegistry,
    settings: Settings,
    name: str,
    arguments: Mapping[str, str],
    files: Sequence[Path] = (),
    out: Path | None = None,
    sinks: Sequence[Sink] = (),
) -> OneCall:
    """Calls a tool once.

    Args:
        registry: The plugins.
        settings: The settings in force; a tool that asks no model needs none to be set.
        name: The tool.
        arguments: Its arguments as text; those that are no text are read as JSON.
        files: Attachments.
        out: Where files that it makes are kept; a temporary folder, removed at the end, where ``None``.
        sinks: Who is told of the events; they are closed at the end.

    Raises:
        UsageError: There is no such tool, it is not ready, or the arguments do not fit.
    """
    given = settings.core.files
    shelf = FileShelf(files, out, [Path(path) for path in given.folders], [Path(path) for path in given.allow])
    journal = Journal("tool", None, sinks, redact=redactor(settings, ()))
    prompts = Prompts(Path(settings.core.prompts.dir) if settings.core.prompts.dir else None)
    sandbox, _ = open_sandbox(registry, settings)
    clients, names = _models(registry, settings, prompts.text("tools_as_text"))
    budget = Budget(Caps(), lambda: journal.usage)
    models = ModelDesk(journal, clients, names, budget)
    code = CodeDesk(journal, sandbox, SandboxLimits())
    opened: list[Callable[[], None]] = []
    embedding = EmbeddingDesk(journal, *_embedder(registry, settings), budget)
    context = CallContext(
        "", shelf, sandbox, models, embedding, journal, code.run, prompts.fill, opened.append, Common()
    )
    try:
        left_out: dict[str, str] = {}
        entries = all_tools(registry, settings)
        specs, tools = await open_tools(journal, entries, context, left_out)
        needs = {entry.provider.name: entry.provider.needs for entry in entries}
        spec = _spec(name, specs, left_out, needs.get(name, ""))
        request = ToolCallRequest(name, _typed(spec, arguments))
        desk = ToolDesk(journal, specs, tools, settings.core.loop.max_tool_retries, context.enter, budget)
        context.attach(desk)
        if problem := desk.problem(request):
            properties: Any = spec.parameters.get("properties") or {}
            raise UsageError(problem, hint=f"its arguments: {', '.join(properties) or 'none'}")
        return OneCall(await desk.call("call", request), journal.usage)
    finally:
        await close_all([code.close, *reversed(opened), shelf.close])
        journal.close()


def all_tools(registry: PluginRegistry, settings: Settings) -> list[ToolEntry]:
    """Finds every tool that is installed and not disabled, also those that a run has only by name."""
    names = tuple(sorted({provider.name for _, provider in registry.all("tool")}))
    return find_tools(registry, settings.with_overrides([Override("tools.enabled", names, "tools")], registry), ())


class _NoModel:
    """Stands where no model is set: most tools need none."""

    samples_at_once = True

    def __init__(self, cause: UsageError) -> None:
        self._cause = cause

    @property
    def learned(self) -> Mapping[str, JsonValue]:
        """Nothing."""
        return {}

    def learn(self, learned: Mapping[str, JsonValue]) -> None:
        """Passes it over."""

    async def ask(self, request: Any, n: int = 1, on_retry: Any = None) -> Reply:
        raise ModelError(self._cause.message, hint=self._cause.hint)

    async def embed(self, texts: Sequence[str], on_retry: Any = None) -> Embedded:
        raise ModelError(self._cause.message, hint=self._cause.hint)


def _models(
    registry: PluginRegistry, settings: Settings, prompt: str
) -> tuple[Mapping[str, Client], Mapping[str, str]]:
    try:
        return open_models(registry, settings, {}, prompt)
    except UsageError as error:
        return {"graph": _NoModel(error)}, {}


def _embedder(registry: PluginRegistry, settings: Settings) -> tuple[Embedder | None, str]:
    try:
        client, names = open_embedding(registry, settings, {})
    except UsageError as error:
        return _NoModel(error), EMBEDDING
    return client, names.get(EMBEDDING, "")


def _spec(name: str, specs: Sequence[ToolSpec], left_out: Mapping[str, str], needs: str) -> ToolSpec:
    for spec in specs:
        if spec.name == name:
            return spec
    if name in left_out:
        raise UsageError(f"the tool {name} is not ready: {left_out[name]}")
    if needs:
        raise UsageError(f"the tool {name} is not there without what it needs: {needs}")
    names = [spec.name for spec in specs]
    hint = "kgot tools list tells what is missing, and why" if left_out else ""
    raise UsageError(unknown_tool(name, nearest(name, names), names), hint=hint)


def _typed(spec: ToolSpec, arguments: Mapping[str, str]) -> dict[str, Any]:
    """Reads arguments by the tool's schema: text as it is, all else as JSON."""
    properties: Any = spec.parameters.get("properties") or {}
    return {name: text if _takes_text(properties.get(name)) else _json(name, text) for name, text in arguments.items()}


def _takes_text(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return True  # it is refused as unknown, by its name
    return "string" in (schema.get("type"), *(item.get("type") for item in schema.get("anyOf", ())))


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise UsageError(f"{name} takes a JSON value, for example 3, true or [1, 2], not {text!r}") from None
