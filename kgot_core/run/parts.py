"""What a session has opened for its runs: everything that a run needs besides its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.backend import GraphBackend, OpenContext, ScopeMode
from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.options import RunOptions
from kgot_core.contracts.sandbox import Sandbox, SandboxLimits
from kgot_core.contracts.solver import Solver
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.voter import Voter
from kgot_core.graph.schema import GraphSchema
from kgot_core.providers import ToolProvider
from kgot_core.run.concurrency.common import Common
from kgot_core.run.desks.embedding import Embedder
from kgot_core.run.desks.model import Client
from kgot_core.run.given import GivenGraph
from kgot_core.run.prompting.prompts import Prompts
from kgot_core.run.purse import Purse

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


@dataclass(frozen=True)
class ToolEntry:
    """A tool provider with its settings, or tools that were passed in code.

    Attributes:
        provider: The provider.
        settings: Its settings.
        ready: Why it cannot be used, empty where it can.
        tools: Tools passed in code; the provider's ``create`` is not called then.
    """

    provider: ToolProvider
    settings: Any = None
    ready: str = ""
    tools: Sequence[BaseTool] = ()


@dataclass(frozen=True)
class Parts:
    """The opened parts of a session.

    Attributes:
        plan: The plan as recorded with each run; holds no secret.
        versions: Packages and their versions, recorded with each run.
        backend: Name of the graph store.
        open_backend: Opens one graph of it.
        close_backend: The backend belongs to the session and is closed after each run.
        schema: Kinds of nodes and edges that are allowed; ``None`` allows all.
        schema_text: The same as the model is told.
        given: The graph that runs start from.
        graph_mode: What becomes of what the store holds, see :class:`~kgot_core.contracts.backend.GraphScope`.
        graph_name: Name of the graph that is kept; empty where each run has one of its own.
        dialect_kind: Class of the dialect, for a run that is repeated from its record.
        state_tokens: Tokens that the state may take in a prompt.
        graph_seconds: Time limit of a call of the store.
        graph_rows: Rows of a query that are kept.
        embedder: The embedding model; ``None`` where there is none.
        purse: What the runs may spend together.
        among_runs: What their tools have in common.
    """

    options: RunOptions
    plan: Mapping[str, Any]
    versions: Mapping[str, str]
    backend: str
    open_backend: Callable[[OpenContext], GraphBackend]
    solver: Solver
    strategy: Strategy
    voters: Mapping[str, Voter]
    sandbox: Sandbox
    clients: Mapping[str, Client]
    model_names: Mapping[str, str]
    prompts: Prompts
    tools: Sequence[ToolEntry] = ()
    schema: GraphSchema | None = None
    schema_text: str = ""
    given: GivenGraph | None = None
    graph_mode: ScopeMode = "new"
    graph_name: str = ""
    dialect_kind: type[Dialect] = Dialect
    state_tokens: int = 40_000
    graph_seconds: float = 30.0
    graph_rows: int = 200
    embedder: Embedder | None = None
    code_limits: SandboxLimits = field(default_factory=SandboxLimits)
    close_backend: bool = True
    purse: Purse = field(default_factory=Purse)
    among_runs: Common = field(default_factory=Common)
