"""Run a statement; if it fails, let the model mend it with the error it gave (paper, section 3.6 and C.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from kgot_core.contracts.run import Run
from kgot_core.errors import QueryError
from kgot_core.events import StatementDropped
from kgot_core.reading.blocks import read_blocks

T = TypeVar("T")


async def run_with_repairs(
    run: Run,
    statement: str,
    purpose: Literal["write", "query"],
    execute: Callable[[str, str], Awaitable[T]],
    copied: Callable[[str], bool],
    failed: QueryError | None = None,
) -> T | None:
    """Runs a statement with up to ``max_query_fixing_retry`` repairs.

    Args:
        run: The run at this statement's step.
        statement: The statement, untrusted.
        purpose: What it is for, for the model.
        execute: Runs a statement at a step.
        copied: Tells whether a repaired statement repeats an example of the prompt; such a one is never run.
        failed: The error of a first run that was made already.

    Returns:
        The result; ``None`` where the statement could not be mended: it is recorded and passed over.
    """
    tried: set[tuple[str, str]] = set()
    failure = ""
    repairs = run.options.limits.max_query_fixing_retry
    for attempt in range(1 + repairs):
        try:
            if failed is not None and attempt == 0:
                raise failed
            return await execute(f"{run.path}/run-{attempt}", statement)
        except QueryError as error:
            failure = str(error)
        if attempt == repairs or (statement, failure) in tried:
            break
        tried.add((statement, failure))
        mended = await _mend(run, attempt + 1, statement, failure, purpose)
        if not mended or mended == statement or copied(mended):
            break
        statement = mended
    run.emit(StatementDropped(statement=statement, error=failure))
    return None


async def _mend(run: Run, number: int, statement: str, error: str, purpose: str) -> str:
    fence = run.graph.dialect.fence
    tail = run.prompt("repair", purpose=purpose, statement=statement, error=error, fence=fence)
    reply = await run.ask_with_state(f"repair-{number}", "repair", tail)
    completion = reply.completions[0]
    blocks = [block for block in read_blocks(completion.text) if block.closed or not completion.truncated]
    # A small model may explain with a second block in another language.
    fitting = [block for block in blocks if block.language == fence] or blocks
    return fitting[0].text.strip() if fitting else ""
