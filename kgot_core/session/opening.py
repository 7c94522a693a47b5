"""From settings and plugins to the parts of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kgot_core import providers
from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.options import Cleaning, RunOptions
from kgot_core.contracts.sandbox import Prelude, PythonKind, Sandbox, SandboxLimits, SandboxSession
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import JsonSchema
from kgot_core.errors import ReplayDiverged, UsageError
from kgot_core.graph.schema import read_schema, schema_text
from kgot_core.plugins import PluginRegistry
from kgot_core.pool.leasing import Slots
from kgot_core.run.given import GivenGraph
from kgot_core.run.parts import Parts
from kgot_core.run.prompting.prompts import Prompts
from kgot_core.run.purse import Purse
from kgot_core.sandboxes.auto import choose
from kgot_core.session.checks import opened, ready_settings
from kgot_core.session.models import open_embedding, open_models, refuse_unpriced
from kgot_core.session.packages import STAGES, packages, versions
from kgot_core.session.starting import NamedGraph, given_graph, graph_scope
from kgot_core.session.store import open_store
from kgot_core.session.tools import find_tools
from kgot_core.settings import Settings, provider_settings


@dataclass(frozen=True)
class Given:
    """What a caller passed in code; it wins over the settings.

    Attributes:
        graph: The graph that runs start from, or the name of its file or run.
        runs: Where runs are found by name, beside the setting ``runs_dir``.
        purse: What the runs may spend together.
    """

    models: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Any] = ()
    backend: Any = None
    schema: JsonSchema | None = None
    graph: NamedGraph | None = None
    runs: Sequence[Path] = ()
    purse: Purse = field(default_factory=Purse)


def open_parts(registry: PluginRegistry, settings: Settings, given: Given, slots: Slots | None = None) -> Parts:
    """Opens everything that the runs of a session share.

    Args:
        registry: The plugins.
        settings: The settings.
        given: What was passed in code.
        slots: The pool of which runs lease a slot.

    Raises:
        UsageError: A setting or name is wrong, or something that is needed is not ready.
        PluginError: A name is not installed.
    """
    common = _common(registry, settings, given.schema)
    strategy: Strategy = common["strategy"]
    graph = given_graph(registry, settings, strategy, given.graph, given.runs)
    sandbox, sandbox_choice = open_sandbox(registry, settings)
    backend, open_backend = open_store(registry, settings, given.backend, slots)

    def share() -> float:
        return 1 / given.purse.ranks

    clients, names = open_models(registry, settings, given.models, common["prompts"].text("tools_as_text"), share)
    embedder, embedding_name = open_embedding(registry, settings, given.models, share)
    names |= embedding_name
    paid: dict[str, Any] = {**clients, **({"embedding": embedder} if embedder else {})}
    if settings.core.caps.max_cost is not None:
        refuse_unpriced(paid, names)
    if given.purse.caps.max_cost is not None:
        refuse_unpriced(paid, names, "batch")
    schema = read_schema(Path(settings.core.graph.schema)) if settings.core.graph.schema else None
    tools = () if common["strategy"].reads_only else find_tools(registry, settings, given.tools)
    used: list[tuple[providers.ProviderKind, str]] = [("backend", backend), ("sandbox", sandbox.name)]
    used += [("tool", entry.provider.name) for entry in tools]
    used += [("model", name.partition(":")[0]) for name in names.values()]
    return Parts(
        **common,
        plan={
            "settings": settings.to_json(),
            "backend": backend,
            "models": names,
            "sandbox": {"name": sandbox.name, "python": sandbox.python, "about": sandbox.about},
            "sandbox_choice": sandbox_choice,
            "schema": dict(given.schema) if given.schema else None,
            "graph_schema": schema_text(schema) if schema else "",
            "packages": packages(registry, settings, used),
            "graph": graph.to_json() if graph else None,
        },
        versions=versions(registry),
        backend=backend,
        open_backend=open_backend,
        close_backend=not isinstance(given.backend, GraphBackend),
        sandbox=sandbox,
        clients=clients,
        model_names=names,
        embedder=embedder,
        tools=tools,
        schema=schema,
        schema_text=schema_text(schema) if schema else "",
        given=graph,
        purse=given.purse,
    )


def recorded_parts(registry: PluginRegistry, settings: Settings, plan: Mapping[str, Any]) -> Parts:
    """Gives the parts of a run that is repeated from its record: no model, tool, store or sandbox is opened."""

    def closed(context: OpenContext) -> GraphBackend:
        raise ReplayDiverged("a repeated run opens no store")

    return Parts(
        **_common(registry, settings, plan["schema"]),
        plan=plan,
        versions={},
        backend=plan["backend"],
        open_backend=closed,
        sandbox=RecordedSandbox(**plan["sandbox"]),
        clients={},
        model_names=plan["models"],
        schema_text=plan["graph_schema"],
        given=GivenGraph(**plan["graph"]) if plan.get("graph") else None,
        dialect_kind=_dialect_kind(registry, plan["backend"]),
    )


def _dialect_kind(registry: PluginRegistry, backend: str) -> type[Dialect]:
    """Gives the class of a recorded backend's dialect; a backend passed in code, or gone, has none of its own."""
    for _, provider in registry.all("backend"):
        if isinstance(provider, providers.BackendProvider) and provider.name == backend and provider.dialect:
            return provider.dialect()
    return Dialect


class RecordedSandbox(Sandbox):
    """The sandbox of a recorded run: what it told the model, and nothing that could run."""

    def __init__(self, name: str, python: PythonKind, about: str) -> None:
        self.name = name
        self.python = python
        self.about = about

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Refuses."""
        raise ReplayDiverged("a repeated run opens no sandbox")


def _common(registry: PluginRegistry, settings: Settings, schema: JsonSchema | None) -> dict[str, Any]:
    core = settings.core
    one("backend", core.backend)
    one("solver", core.solver)
    strategy: Strategy = _open(registry, settings, "strategy", core.strategy)
    return {
        "options": RunOptions(
            limits=core.loop,
            answer_format=core.format,
            answer_schema=schema,
            extract_form=core.extract.form,
            extract_max_tokens=core.extract.max_tokens,
            vote_temperature=core.votes.temperature,
            caps=core.caps,
            check_sources=core.checks.sources,
            check_by_model=core.checks.model,
            choose_tools_votes=core.votes.choose_tools,
            final_votes=core.votes.final,
            abstain_below=core.votes.abstain_below,
            clean=Cleaning(core.clean.when, core.clean.irrelevant, core.clean.similarity),
        ),
        "solver": _open(registry, settings, "solver", core.solver[0]),
        "strategy": strategy,
        "voters": {stage: _open(registry, settings, "voter", settings.voter(stage)) for stage in STAGES},
        "prompts": Prompts(Path(core.prompts.dir) if core.prompts.dir else None),
        "state_tokens": core.graph.max_state_tokens,
        "graph_seconds": core.graph.seconds,
        "graph_rows": core.graph.rows,
        **graph_scope(settings, strategy),
    }


def one(what: str, names: Sequence[str]) -> None:
    """Refuses several backends or solvers: there is no fusion yet."""
    if len(names) > 1:
        raise UsageError(
            f"a run takes one {what} for now: several are combined by a fusion strategy, which is not built"
        )


def open_sandbox(registry: PluginRegistry, settings: Settings) -> tuple[Sandbox, str]:
    """Opens the sandbox that the settings name; ``auto`` takes the first that works.

    Returns:
        The sandbox, and one line that says what ``auto`` chose and why; empty for one that was named.

    Raises:
        KgotError: None works, or the one named does not.
    """
    if settings.core.sandbox == "auto":
        candidates = [cast(providers.SandboxProvider, provider) for _, provider in registry.all("sandbox")]
        return choose(candidates, lambda provider: provider_settings(settings, provider))
    provider = cast(providers.SandboxProvider, registry.get("sandbox", settings.core.sandbox))
    values = ready_settings(settings, provider)
    return opened(provider, lambda: provider.open(values)), ""


def _open(registry: PluginRegistry, settings: Settings, kind: providers.ProviderKind, name: str) -> Any:
    provider: Any = registry.get(kind, name)
    values = ready_settings(settings, provider)
    return opened(provider, lambda: provider.open(values))
