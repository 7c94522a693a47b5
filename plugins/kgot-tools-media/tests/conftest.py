"""Files of every kind, made by the libraries that write them, and how the tools are called on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.run.parts import ToolEntry
from kgot_core.testing.runs import Ended, Setting, try_in_run
from kgot_tools_media.child.read import run as read_in_process
from kgot_tools_media.parts import Options, Part
from kgot_tools_media.plugin import kgot_tools
from kgot_tools_media.windows import windows


class Reading:
    """What a reader gives for a file, without the child process.

    Attributes:
        text: The whole content.
        parts: The parts.
        facts: The facts.
        notes: The notes.
        family: The family of its kind.
    """

    def __init__(self, path: Path, password: str = "") -> None:
        messages = list(read_in_process({"path": str(path), "options": asdict(Options(password))}))
        self.parts = [Part(**message["part"]) for message in messages if "part" in message]
        self.text = "\n".join(window.text for window in windows(self.parts, 1_000_000))
        self.facts = [message["fact"] for message in messages if "fact" in message]
        self.notes = [message["note"] for message in messages if "note" in message]
        self.family = messages[0]["family"]


def run_tool(
    name: str,
    arguments: Mapping[str, Any],
    attached: list[Path],
    folder: Path,
    script: Any = None,
    settings: Mapping[str, Any] | None = None,
    folders: Sequence[Path] = (),
    embeddings: Embeddings | None = None,
) -> Ended[ToolResult]:
    """Calls a tool of this package in a real run.

    Args:
        name: The tool.
        arguments: Its arguments.
        attached: The task's files.
        folder: Folder for files of the run.
        script: Replies of the model.
        settings: Settings of the tool that is called.
        folders: Folders that the user opened.
        embeddings: The run's embedding model.
    """
    # Character recognition takes seconds, so only a test that calls the tool itself has it.
    given = {"inspect_image": {"ocr": False}, name: settings or {}}
    entries = [ToolEntry(provider, provider.settings(**given.get(provider.name, {}))) for provider in kgot_tools()]

    async def work(run: Run) -> ToolResult:
        return await run.tools.call("test", ToolCallRequest(name, arguments))

    setting = Setting(
        files=attached,
        tools=entries,
        folder=folder,
        folders=folders,
        embeddings=embeddings,
        **({"script": script} if script else {}),
    )
    return try_in_run(work, setting)


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., ToolResult]:
    """Calls a tool: ``call("inspect_file", path_of_file, question="...")``."""

    def made(
        name: str, *files: Path, script: Any = None, settings: Mapping[str, Any] | None = None, **given: Any
    ) -> Any:
        arguments = {"path": files[0].name, **given}
        return run_tool(name, arguments, list(files), tmp_path / "run", script, settings).result

    return made


@pytest.fixture
def read() -> Callable[..., Reading]:
    """Reads a file in this process: ``read(path)``, ``read(path, password)``."""
    return Reading


@pytest.fixture
def run_in_folder(tmp_path: Path) -> Callable[..., ToolResult]:
    """Calls a tool with folders of the user's opened: ``run_in_folder("search_files", folder, query="...")``."""

    def made(
        name: str,
        *folders: Path,
        files: Sequence[Path] = (),
        embeddings: Embeddings | None = None,
        settings: Mapping[str, Any] | None = None,
        **given: Any,
    ) -> ToolResult:
        run = tmp_path / "run"
        return run_tool(name, given, list(files), run, None, settings, folders, embeddings).result

    return made
