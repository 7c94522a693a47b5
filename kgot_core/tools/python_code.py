"""``run_python_code``: a script in the sandbox, with the task's files, mended by the model if it fails (paper, B.4)."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from kgot_core.contracts.model import user
from kgot_core.contracts.sandbox import CodeJob, CodeResult
from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.reading.blocks import read_blocks

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


class RunPythonCode(BaseTool):
    """Runs a script in the run's sandbox; files that it writes become files of the run."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str = "run_python_code"
    description: str = DESCRIPTION
    args_schema: type[BaseModel] = CodeArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _context: ToolContext = PrivateAttr()

    def __init__(self, context: ToolContext, **fields: Any) -> None:
        super().__init__(description=f"{DESCRIPTION} {context.sandbox.about} {EXAMPLE}", **fields)
        self._context = context

    async def _arun(self, code: str) -> tuple[str, ToolArtifact]:
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

    def _run(self, code: str) -> tuple[str, ToolArtifact]:
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
