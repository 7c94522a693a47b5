"""Whether the partial answer needs mathematics, and then the calculation by a script (paper, C.3.3)."""

from __future__ import annotations

from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.sandbox import CodeJob, CodeResult
from kgot_core.errors import SandboxError
from kgot_core.reading.blocks import read_blocks, strip_reasoning
from kgot_core.run.prompting.transcript import shorten

REPAIRS = 3
SILENT = "the script printed nothing; it must print its result"


async def compute(run: Run, partial: str) -> str:
    """Adds the result of a calculation to the partial answer where the task needs one.

    Args:
        run: The run at this step.
        partial: What the graph gave.

    Returns:
        The partial answer, with the calculation's printed steps if one was made.
    """
    slots = {"question": run.task.question, "about": run.sandbox.about}
    reply = await run.ask(
        "need", "compute", lambda tokens: run.prompt("compute", partial=shorten(partial, tokens), **slots)
    )
    code = _script(reply.completions[0])
    for attempt in range(1 + REPAIRS if code else 0):
        try:
            result = await run.execute(f"code-{attempt}", CodeJob(code))
        except SandboxError as error:
            run.notice(f"the calculation could not be run: {error}")
            return partial
        printed = _printed(result)
        if printed and not result.error:
            return f"{partial}\n\nCalculated from this:\n{printed}"
        if attempt == REPAIRS:
            break
        mended = await _mend(run, attempt + 1, code, result.error or SILENT, partial)
        if not mended or mended == code:
            break
        code = mended
    return partial


async def _mend(run: Run, number: int, code: str, error: str, partial: str) -> str:
    def prompt(tokens: int) -> str:
        purpose = f"{run.task.question}\nValues: {shorten(partial, tokens)}"
        return run.prompt("repair_code", purpose=purpose, code=code, error=error, about=run.sandbox.about)

    reply = await run.ask(f"repair-{number}", "compute", prompt)
    return _script(reply.completions[0])


def _script(completion: Completion) -> str:
    """Gives the reply's script; one in Python goes before other blocks, and the one word NO before all."""
    if strip_reasoning(completion.text).partition("\n")[0].strip(" .*`_").casefold() == "no":
        return ""
    blocks = [block for block in read_blocks(completion.text) if block.closed or not completion.truncated]
    python = [block for block in blocks if block.language in ("python", "py", "python3")] or blocks
    return python[0].text.strip() if python else ""


def _printed(result: CodeResult) -> str:
    value = "" if result.value is None else str(result.value)
    return "\n".join(part for part in (result.output.strip(), value.strip()) if part)
