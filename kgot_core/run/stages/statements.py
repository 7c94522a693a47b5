"""Write a reply's fenced blocks into the graph, each as one transaction, mended where it fails (paper, C.2 and C.4)."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.errors import QueryError
from kgot_core.events import StatementDropped
from kgot_core.reading.blocks import Block, read_blocks, strip_reasoning
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.run.prompting.examples import copies_write
from kgot_core.run.prompting.results import known_text, sources_of
from kgot_core.run.stages.facts import hold_facts, write_facts
from kgot_core.run.stages.repair import run_with_repairs
from kgot_core.run.stages.written import Written, all_written, says_nothing


async def write_statements(run: Run, completion: Completion, results: Sequence[ToolResult]) -> Written:
    """Writes what a reply to the request for statements holds.

    Only closed blocks of a reply that was cut off are run. A model that wrote facts instead is understood, too.

    Args:
        run: The run at this reply's step.
        completion: The reply.
        results: The round's tool results.
    """
    dialect = run.graph.dialect
    if says_nothing(completion.text):
        return "nothing"
    blocks = [block for block in _blocks(completion, dialect) if block.closed or not completion.truncated]
    facts = [block for block in blocks if not _is_statement(block, dialect) and hold_facts(block.text)]
    statements = [block for block in blocks if block not in facts]
    if any(_is_statement(block, dialect) for block in statements):
        statements = [block for block in statements if _is_statement(block, dialect)]
    outcomes: list[Written] = [await _write(run, statements, results)] if statements else []
    bare = "" if blocks else strip_reasoning(completion.text)
    if facts:
        outcomes.append(await write_facts(run.at("facts"), facts, results))
    elif hold_facts(bare):
        bare_block = Block("", "", bare, True, 1)
        outcomes.append(await write_facts(run.at("facts"), (bare_block,), results, completion.truncated))
    if not outcomes and not completion.truncated:
        run.emit(StatementDropped(statement=bare, error="the reply holds neither a fenced block nor the word NOTHING"))
    return all_written(outcomes)


async def write_once(run: Run, block: Block, results: Sequence[ToolResult]) -> Written:
    """Runs one block as it is, without repairs."""
    if copies_write(block.text, run.graph.dialect, known_text(run, results)):
        return "unreadable"
    try:
        await run.graph.write(f"{run.path}/run-0", block.text.strip(), sources_of(block.info, results))
    except QueryError as error:
        run.emit(StatementDropped(statement=block.text, error=str(error)))
        return "failed"
    return "written"


async def _write(run: Run, blocks: Sequence[Block], results: Sequence[ToolResult]) -> Written:
    """Runs blocks, equal ones once: all of them first, side by side where the store allows it, then the repairs.

    Repairs follow one after another, so that the graph does not depend on which of them is answered first.
    """
    known = known_text(run, results)
    distinct: dict[str, Block] = {}
    for block in blocks:
        distinct.setdefault(block.text.strip(), block)
    chains, good, mended = [], True, False
    for number, block in enumerate(distinct.values(), 1):
        at = run.at(number)
        if copies_write(block.text, run.graph.dialect, known):
            at.emit(StatementDropped(statement=block.text, error="it repeats the prompt's example"))
            good = False
        else:
            chains.append((at, block))
    firsts = [_attempt(at, "run-0", block, results) for at, block in chains]
    errors = await side_by_side(firsts) if run.graph.concurrency > 1 else [await first for first in firsts]
    for (at, block), error in zip(chains, errors, strict=True):
        if error is not None and mended:
            # What was mended since may be all that was missing.
            error = await _attempt(at, "run-0-again", block, results)
        if error is not None:
            saved = await _mend(at, block, results, error, known)
            good, mended = good and saved, mended or saved
    return "written" if good else "failed"


async def _attempt(run: Run, step: str, block: Block, results: Sequence[ToolResult]) -> QueryError | None:
    dialect = run.graph.dialect
    try:
        change = await run.graph.write(f"{run.path}/{step}", block.text.strip(), sources_of(block.info, results))
    except QueryError as error:
        return error
    if not change and block.language and not _is_statement(block, dialect):
        return QueryError(
            f"it changed nothing; it is marked as {block.language}, but the graph needs {dialect.language}"
        )
    return None


async def _mend(run: Run, block: Block, results: Sequence[ToolResult], error: QueryError, known: str) -> bool:
    sources = sources_of(block.info, results)

    async def execute(step: str, statement: str) -> bool:
        await run.graph.write(step, statement, sources)
        return True

    def copied(statement: str) -> bool:
        return copies_write(statement, run.graph.dialect, known)

    return await run_with_repairs(run, block.text.strip(), "write", execute, copied, error) is True


def _blocks(completion: Completion, dialect: Dialect) -> Sequence[Block]:
    """Gives the reply's blocks with content; a reply without fences that begins like an example is one."""
    blocks = [block for block in read_blocks(completion.text) if block.text.strip()]
    text = strip_reasoning(completion.text)
    if not blocks and _first_word(text) in {_first_word(example) for example in dialect.write_examples}:
        return (Block(dialect.fence, "", text, not completion.truncated, 1),)
    return blocks


def _is_statement(block: Block, dialect: Dialect) -> bool:
    """Tells whether a block says that it is in the graph's language, maybe by a shorter name of it."""
    return bool(block.language) and (
        dialect.fence.startswith(block.language) or block.language.startswith(dialect.fence)
    )


def _first_word(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.replace("(", " ").replace(".", " ").partition(" ")[0]
