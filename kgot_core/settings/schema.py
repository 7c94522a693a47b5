"""The core's own settings: every key with its default, its help, and what is secret or needs a trusted file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from kgot_core.settings.batch import BatchSettings
from kgot_core.settings.fields import setting
from kgot_core.settings.limits import CAPS, LOOP, caps, loop_limits
from kgot_core.settings.pool import PoolSettings

if TYPE_CHECKING:
    from kgot_core.contracts.options import Caps, LoopLimits
    from kgot_core.providers import ProviderKind

SECTIONS: Mapping[ProviderKind, str] = MappingProxyType(
    {
        "backend": "backends",
        "solver": "solvers",
        "tool": "tools",
        "voter": "voters",
        "scheduler": "schedulers",
        "strategy": "strategies",
        "model": "model_providers",
        "sandbox": "sandboxes",
        "sink": "sinks",
        "format": "formats",
    }
)
"""The section in which providers of a kind have their tables, ``<section>.<name>``.

``models`` has a table for each role, so what a model provider itself may be set to is in ``model_providers``.
"""


@dataclass(frozen=True)
class GraphSettings:
    """``graph.*``: the task's graph, whatever store holds it."""

    schema: str = setting(
        "", "file of the node and edge types that are allowed", path=True, trusted=True, matters=False
    )
    max_state_tokens: int = setting(40_000, "tokens of the graph's state in a prompt", minimum=1)
    seconds: float = setting(30.0, "time limit of one call of the store", matters=False, above=0)
    rows: int = setting(200, "rows of one query that are kept", minimum=1)
    keep: bool = setting(False, "go on with the graph that the store holds, and leave it there", trusted=True)
    name: str = setting("", "name of the graph that is kept, in a store that keeps several", trusted=True)


@dataclass(frozen=True)
class ExtractSettings:
    """``extract.*``: how knowledge gets into the graph."""

    form: Literal["auto", "statements", "facts"] = setting(
        "auto", "what the model writes: statements in the store's language, one fact a line, or the first that works"
    )
    max_tokens: int | None = setting(None, "limit of one such reply in tokens", minimum=1)


@dataclass(frozen=True)
class ChecksSettings:
    """``checks.*``: what is written into the graph is checked."""

    sources: bool = setting(True, "values that do not stand in the source they cite are marked as the model's own")
    model: bool = setting(False, "a model is asked about those, and what it rejects is removed: a request a round")


@dataclass(frozen=True)
class CleanSettings:
    """``clean.*``: noise is taken out of the graph (paper, B.6)."""

    when: Literal["never", "solve", "round"] = setting(
        "never", "solve: before a Solve; round: duplicates also after each round"
    )
    irrelevant: bool = setting(True, "before a Solve a model is asked what the task does not need: one request")
    similarity: float = setting(
        0.95, "likeness from which two nodes of one label say the same; above 1 only their names count", minimum=0
    )


@dataclass(frozen=True)
class PromptSettings:
    """``prompts.*``: the texts of the requests."""

    dir: str = setting(
        "", "folder whose files replace prompts of the same name", path=True, trusted=True, matters=False
    )


@dataclass(frozen=True)
class VoterSettings:
    """``voters.<stage>``: another voter for one stage. Tables of voters stand beside, ``voters.<name>.*``."""

    decide: str = setting("", "voter on Solve or Enhance, voter where empty")
    choose_tools: str = setting("", "voter on the tools of a round, voter where empty")
    parse: str = setting("", "voter on the parsed answer, voter where empty")
    final: str = setting("", "voter on the final answer, voter where empty")


@dataclass(frozen=True)
class VotesSettings:
    """``votes.*``: the samples that are voted on. Those of the next step and of the parse are set by ``loop.*``."""

    temperature: float = setting(0.7, "sampling temperature of votes", minimum=0)
    choose_tools: int = setting(1, "samples of the choice of tools in each round", minimum=1)
    final: int = setting(1, "whole solutions that the final answer is chosen from", minimum=1)
    abstain_below: float = setting(
        0.0, "agreement, 0 to 1, below which a run says that it does not know; 0 never does", minimum=0, maximum=1
    )


@dataclass(frozen=True)
class ToolsSettings:
    """``tools.enabled`` and ``tools.disabled``. Tables of tools stand beside, ``tools.<name>.*``."""

    enabled: tuple[str, ...] = setting((), "tools of a run, those on by default where empty", trusted=True)
    disabled: tuple[str, ...] = setting((), "tools that no run has")


@dataclass(frozen=True)
class FilesSettings:
    """``files.*``: what tools may read beside the task's attachments and what they made themselves."""

    folders: tuple[str, ...] = setting((), "folders of documents that tools search and read", trusted=True, path=True)
    allow: tuple[str, ...] = setting(
        (),
        "files, or folders with all below them, that tools read by their path",
        trusted=True,
        path=True,
    )


@dataclass(frozen=True)
class SinksSettings:
    """``sinks.enabled``. Tables of sinks stand beside, ``sinks.<name>.*``."""

    enabled: tuple[str, ...] = setting(
        (), "further places for the events of a run, by their names", trusted=True, matters=False
    )


@dataclass(frozen=True)
class PluginSettings:
    """``plugins.*``: which plugins are loaded."""

    disabled: tuple[str, ...] = setting((), "packages whose plugin is not loaded", trusted=True, matters=False)
    load: tuple[str, ...] = setting(
        (), "modules and files FILE.py that are loaded too", trusted=True, path=True, matters=False
    )
    strict: bool = setting(False, "a plugin that cannot be used is an error", matters=False)


@dataclass(frozen=True)
class ModelSettings:
    """``models.<role>.*``: the model of a role. One without a model uses that of ``graph``, ``embedding`` none."""

    model: str = setting("", "the model as provider:name; models.<role> = NAME is the short form")
    base_url: str = setting("", "address of the server", trusted=True, matters=False)
    api_key: str = setting("", "key of the server", secret=True, trusted=True, matters=False)
    organization: str = setting("", "organisation that is billed", matters=False)
    timeout: float = setting(120.0, "seconds that one request may take", matters=False, above=0)
    temperature: float | None = setting(None, "sampling temperature outside votes", minimum=0)
    max_tokens: int | None = setting(None, "limit of a reply in tokens", minimum=1)
    context_tokens: int | None = setting(None, "size of the context window, where it is not known", minimum=1)
    num_ctx: int = setting(16_384, "context window that an Ollama server is asked for", minimum=1)
    input_price: float | None = setting(
        None, "dollars a million prompt tokens, where unknown", matters=False, minimum=0
    )
    output_price: float | None = setting(
        None, "dollars a million reply tokens, where unknown", matters=False, minimum=0
    )
    cached_price: float | None = setting(
        None, "dollars a million cached prompt tokens, input_price where unset", matters=False, minimum=0
    )
    requests_per_minute: float | None = setting(
        None, "requests a minute at most, of all runs together", matters=False, above=0
    )
    tokens_per_minute: float | None = setting(
        None, "prompt and reply tokens a minute at most, of all runs together", matters=False, above=0
    )
    options: Mapping[str, Any] = field(
        default_factory=dict, repr=False, metadata={"help": "options.* reach the client unchanged", "trusted": True}
    )


@dataclass(frozen=True)
class CoreSettings:
    """The core's own settings, except those of models."""

    backend: tuple[str, ...] = setting((), "graph stores; where empty the only one installed, else networkx")
    solver: tuple[str, ...] = setting(("query",), "how the graph gives the answer")
    strategy: str = setting("kgot", "who runs the whole task")
    voter: str = setting("majority", "how several samples become one choice")
    sandbox: str = setting("auto", "where model-written Python runs; auto takes the first that works", trusted=True)
    format: Literal["plain", "gaia"] = setting("plain", "how the final answer is written")
    runs_dir: str = setting("runs", "folder that holds a folder for each run", path=True, matters=False)
    scheduler: str = setting("local", "who runs the tasks of a batch", matters=False)
    batch: BatchSettings = field(default_factory=BatchSettings)
    pool: PoolSettings = field(default_factory=PoolSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    extract: ExtractSettings = field(default_factory=ExtractSettings)
    checks: ChecksSettings = field(default_factory=ChecksSettings)
    clean: CleanSettings = field(default_factory=CleanSettings)
    prompts: PromptSettings = field(default_factory=PromptSettings)
    loop: LoopLimits = field(default_factory=loop_limits, metadata={"fields": LOOP})
    caps: Caps = field(default_factory=caps, metadata={"fields": CAPS})
    voters: VoterSettings = field(default_factory=VoterSettings)
    votes: VotesSettings = field(default_factory=VotesSettings)
    tools: ToolsSettings = field(default_factory=ToolsSettings)
    files: FilesSettings = field(default_factory=FilesSettings)
    sinks: SinksSettings = field(default_factory=SinksSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
