"""``run_python_code``: a script in the sandbox, with the task's files, mended by the model if it fails (paper, B.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal, cast

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from kgot_core.contracts.model import user
from kgot_core.contracts.sandbox import CodeJob, CodeResult
from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.reading.blocks import read_blocks
from kgot_core.tools.packages import LOOK, LOOK_RESULT, fetch, missing, pinned, refused, there_are
from kgot_core.tools.settings import PythonCodeSettings

REPAIRS = 3
DESCRIPTION = (
    "Runs a Python script in a closed sandbox and gives what it printed: for calculations, and to read or count in the"
    " task's attached files, which lie in the working folder under their names."
)
EXAMPLE = (
    'Example: {"code": "import csv\\nrows = list(csv.DictReader(open(\'harbours.csv\')))\\nprint(len(rows), rows[0])"}'
)


class CodeArguments(BaseModel):
    """Arguments of ``run_python_code``."""

    code: str = Field(
        description="A complete Python script. It must print everything that is wanted from it. Attached files are in"
        " the working folder under their names."
    )
    required_modules: list[str] = Field(
        default=[],
        description="Packages beyond those named above that the script imports, as plain names, with == and a version"
        " where it matters. Leave it empty where none are needed.",
    )


class RunPythonCode(BaseTool):
    """Runs a script in the run's sandbox; files that it writes become files of the run."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str = "run_python_code"
    description: str = DESCRIPTION
    args_schema: type[BaseModel] = CodeArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _context: ToolContext = PrivateAttr()
    _settings: PythonCodeSettings = PrivateAttr()
    _turn: asyncio.Lock = PrivateAttr(default_factory=asyncio.Lock)

    def __init__(self, context: ToolContext, settings: PythonCodeSettings | None = None, **fields: Any) -> None:
        super().__init__(description=f"{DESCRIPTION} {context.sandbox.about} {EXAMPLE}", **fields)
        self._context = context
        self._settings = settings or PythonCodeSettings()
        if self._settings.allow or self._settings.allow_install:
            # Made now, so that scripts see it from the first on.
            _ = context.files.packages

    async def _arun(self, code: str, required_modules: Sequence[str] = ()) -> tuple[str, ToolArtifact]:
        if required_modules:
            async with self._turn:
                await self._provide(required_modules)
        code, failure = _unfenced(code), ""
        for attempt in range(1 + REPAIRS):
            result = await self._execute(code)
            if not result.error:
                # A script that names a file has most likely read it.
                read = tuple(Source(name) for name in self._context.files.names() if name in code)
                names = tuple(self._context.files.add(self._context.files.folder / name) for name in result.files)
                return _shown(result, names), ToolArtifact(read, names)
            failure = result.error
            if attempt == REPAIRS:
                break
            mended = await self._mend(code, failure)
            if not mended or mended == code:
                break
            code = mended
        raise ValueError(f"the script failed: {failure}")

    async def _provide(self, asked: Sequence[str]) -> None:
        """Sees to it that packages are there.

        Raises:
            ValueError: One may not be, or cannot be fetched; the message says what is there instead.
        """
        sandbox = self._context.sandbox
        if sandbox.python == "subset":
            raise ValueError(f"no modules can be installed here. {sandbox.about}")
        looked = await self._context.execute(CodeJob(LOOK, {"names": list(asked)}, after=LOOK_RESULT))
        if looked.error:
            raise ValueError(f"the packages of the sandbox cannot be listed: {looked.error}")
        versions, modules = cast("list[Any]", looked.value)
        allowed, everything = self._settings.allow, self._settings.allow_install
        try:
            wanted = missing(asked, versions, modules)
        except ValueError as error:
            raise ValueError(f"{error}; {there_are(versions)}") from None
        if names := refused(wanted, allowed, everything):
            raise ValueError(
                f"these packages may not be installed: {', '.join(names)}; {there_are(versions)}. Write the script"
                " without them."
            )
        if not wanted:
            return
        names = pinned(wanted, allowed)
        fault = await self._context.once(
            f"install {' '.join(names)}", lambda: fetch(names, self._context.files.packages, sandbox.pip_options)
        )
        if fault:
            raise ValueError(f"{', '.join(names)} could not be installed: {fault}; {there_are(versions)}")

    def _run(self, code: str, required_modules: Sequence[str] = ()) -> tuple[str, ToolArtifact]:
        raise NotImplementedError("run_python_code is asynchronous; call it with arun or ainvoke")

    async def _execute(self, code: str) -> CodeResult:
        files = {name: self._context.files.path(name) for name in self._context.files.names()}
        return await self._context.execute(CodeJob(code, files=files, collect=self._context.files.folder))

    async def _mend(self, code: str, error: str) -> str:
        prompt = self._context.prompt(
            "repair_code",
            purpose=self._context.question,
            code=code,
            error=error,
            about=self._context.sandbox.about,
        )
        reply = await self._context.ask([user(prompt)])
        completion = reply.completions[0]
        blocks = [block for block in read_blocks(completion.text) if block.closed or not completion.truncated]
        return blocks[0].text.strip() if blocks else ""


def _unfenced(code: str) -> str:
    """Takes the fence off a script that a model put into one."""
    blocks = read_blocks(code) if code.lstrip().startswith("```") else ()
    return blocks[0].text.strip() if blocks else code


def _shown(result: CodeResult, files: tuple[str, ...]) -> str:
    parts = [result.output.strip()]
    if result.value is not None:
        parts.append(str(result.value))
    if files:
        parts.append("files written: " + ", ".join(files))
    if result.exit_code:
        parts.append(f"exit code {result.exit_code}")
    return "\n".join(part for part in parts if part) or "the script ran and printed nothing; its last value is None"
