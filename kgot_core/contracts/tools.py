"""Tools of a run: LangChain ``BaseTool`` objects, made anew for each run, and what they may use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from kgot_core.contracts.model import Message, Reply, Role, ToolSpec
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Sandbox
from kgot_core.graph.values import JsonValue

Thing = TypeVar("Thing")
Effect: TypeAlias = Literal["read", "write"]


@dataclass(frozen=True)
class Source:
    """Where a piece of a tool's result came from.

    Attributes:
        address: URL, or name of a file.
        title: Title of the page or file.
        place: Page, row, section or time in it.
        fetched: When it was read, ISO 8601.
        sha256: Hash of what was read.
    """

    address: str
    title: str = ""
    place: str = ""
    fetched: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class ToolArtifact:
    """What a tool hands over beside its text: put into the ``artifact`` of a LangChain tool's result."""

    sources: tuple[Source, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolResult:
    """How a tool call ended.

    Attributes:
        step: Place of the call in the run; sources of graph elements name it.
        name: The tool.
        arguments: What it was called with.
        text: What it returned, or its error's text.
        failed: The call ended in an error.
        artifact: Sources and files.
        whole: Name of the run's file that holds the text whole, where it is too long to be shown so.
    """

    step: str
    name: str
    arguments: Mapping[str, Any]
    text: str
    failed: bool = False
    artifact: ToolArtifact = field(default_factory=ToolArtifact)
    whole: str = ""


@dataclass(frozen=True)
class ToolPart:
    """One of several places that a provider's tools come from, such as a server.

    Attributes:
        name: Its name, as it stands in settings.
        summary: What it offers, in a line.
        problem: Why it cannot be used; empty where it can.
        hint: The next step then.
    """

    name: str
    summary: str = ""
    problem: str = ""
    hint: str = ""


class RunFiles(Protocol):
    """Files that tools of one run may read and write: attachments, and what tools made."""

    @property
    def folder(self) -> Path:
        """A folder of the run for new files; made when first used."""

    @property
    def packages(self) -> Path:
        """A folder of the run whose Python packages its scripts can import; made when first used.

        Scripts see it where it was made before the first of them ran, as when the tools were created.
        """

    def names(self) -> Sequence[str]:
        """Names of all files, attachments first; two attachments with one name get different names here."""

    @property
    def folders(self) -> Sequence[Path]:
        """The user's own folders of documents that tools may search and read."""

    def path(self, name: str) -> Path:
        """Gives a file's path by its name, by its own path, or by its path within one of the folders.

        Whatever it is called, a file that lies outside what the user opened is none of the run's.

        Raises:
            KgotError: No such file belongs to the run; the message lists those that do.
        """

    def add(self, path: Path) -> str:
        """Makes a file of the run known and gives its name."""


class ToolContext(Protocol):
    """What a tool may use. Everything is journalled, counted and attributed to the tool that asks."""

    @property
    def question(self) -> str:
        """The task's question."""

    @property
    def files(self) -> RunFiles:
        """The run's files."""

    @property
    def sandbox(self) -> Sandbox:
        """Where model-written code runs, to know what it may use; run it with ``execute``."""

    def prompt(self, name: str, **slots: str) -> str:
        """Fills one of the run's prompts."""

    async def execute(self, job: CodeJob) -> CodeResult:
        """Runs model-written code in the sandbox.

        Raises:
            SandboxError: The sandbox itself failed.
        """

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        role: Role = "tool",
        tools: Sequence[ToolSpec] = (),
        n: int = 1,
    ) -> Reply:
        """Asks the model of a role; calls that it wrote as text stand among its calls, as if it had made them."""

    async def answer(self, prompt: str, *, role: Role = "tool", images: Sequence[str] = ()) -> str:
        """Asks one prompt and gives the reply's text, without a model's reasoning.

        Args:
            prompt: The text.
            role: Whose model.
            images: Images to look at, as ``data:`` URLs.

        Raises:
            ContextOverflow: The prompt is too long for the model.
            ModelError: The request failed for good.
        """

    @property
    def embedding_model(self) -> str:
        """Name of the model of the role ``embedding``; empty where none is set."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Gives a vector for each text by the model of the role ``embedding``; ``None`` where none is set.

        What was embedded for a tool of this run before, also before it was broken off, is not asked for again.

        Args:
            texts: Texts for one request, none of them empty.

        Raises:
            CapReached: The run may not make the request.
            ModelError: The request failed for good.
        """

    @property
    def tools(self) -> Sequence[str]:
        """Names of the run's tools."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls another tool of the run, as a part of this call; its failure is a result with ``failed`` set."""

    def share(self, key: str, make: Callable[[], Thing], *, among_runs: bool = False) -> Thing:
        """Gives what tools have in common under a key: made by the first that asks, kept for the others.

        Args:
            key: Its name, which begins with that of the package.
            make: Makes it; a short function, for which others wait.
            among_runs: All runs of the session have it in common, such as the tasks of a batch in one process. They use
                it at once, from several threads, and it may hold nothing that one of them must not know of another.
        """

    def at_end(self, function: Callable[[], None]) -> None:
        """Has a function called when the run ends, however it ends: for what a tool has opened.

        It is called on a thread of its own, the last one named first, and for a few seconds at most; what it raises is
        logged.
        """

    def leave_out(self, name: str, cause: str) -> None:
        """Tells, while tools are made, that one of them or a part of them is missing in this run, and why.

        Args:
            name: What is missing, as the user knows it.
            cause: Why, in one line.
        """

    async def once(self, key: str, function: Callable[[], Awaitable[JsonValue]]) -> JsonValue:
        """Runs an outside call once for this tool call and ``key``; later (after a resume) its recorded result."""
