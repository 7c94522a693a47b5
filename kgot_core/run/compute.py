"""Whether the partial answer needs mathematics, and then the calculation by a script (paper, C.3.3)."""

from __future__ import annotations

from kgot_core.contracts.run import Run
from kgot_core.contracts.sandbox import CodeJob, CodeResult
from kgot_core.errors import SandboxError
from kgot_core.reading.blocks import read_blocks
from kgot_core.run.transcript import shorten

REPAIRS = 3


async def compute(run: Run, partial: str) -> str:
    """Adds the result of a calculation to the partial answer where the task needs one.

    Args:
        run: The run at this step.
        partial: What the graph gave.

    Returns:
        The partial answer, with the calculation's printed steps if one was made.
    """
    question = run.task.question
    reply = await run.ask(
        "need",
        "compute",
        lambda tokens: run.prompt("compute", question=question, partial=shorten(partial, tokens)),
    )
    code = _script(reply.completions[0].text, reply.completions[0].truncated)
    for attempt in range(1 + REPAIRS if code else 0):
        try:
            result = await run.execute(f"code-{attempt}", CodeJob(code))
        except SandboxError as error:
            run.notice(f"the calculation could not be run: {error}")
            return partial
        if not result.error:
            return f"{partial}\n\nCalculated from this:\n{_printed(result)}"
        if attempt == REPAIRS:
            break
        purpose = f"{question}\nValues: {shorten(partial, run.options.result_tokens)}"
        about = run.sandbox.about
        prompt = run.prompt("repair_code", purpose=purpose, code=code, error=result.error, about=about)
        reply = await run.ask(f"repair-{attempt + 1}", "compute", prompt)
        mended = _script(reply.completions[0].text, reply.completions[0].truncated)
        if not mended or mended == code:
            break
        code = mended
    return partial


def _script(text: str, truncated: bool) -> str:
    blocks = [block for block in read_blocks(text) if block.closed or not truncated]
    return blocks[0].text.strip() if blocks else ""


def _printed(result: CodeResult) -> str:
    value = "" if result.value is None else str(result.value)
    return "\n".join(part for part in (result.output.strip(), value) if part) or "(the script printed nothing)"
