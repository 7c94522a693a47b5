"""Write what the tools brought into the graph: as statements of its language, or as facts (paper, C.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.errors import QueryError
from kgot_core.events import StatementDropped, ValueReplaced
from kgot_core.graph.facts import Replaced, facts_to_change, read_lines
from kgot_core.graph.values import encode
from kgot_core.reading.blocks import Block, read_blocks, strip_reasoning
from kgot_core.reading.echo import repeats_example
from kgot_core.reading.facts import read_facts
from kgot_core.run.ids import new_ids
from kgot_core.run.prompts import tagged
from kgot_core.run.repair import run_with_repairs
from kgot_core.run.side_by_side import side_by_side
from kgot_core.run.transcript import shorten

Extraction: TypeAlias = Literal["statements", "facts"]
FACTS_NOTICE = (
    "the model's statements could not be mended; from here on it writes plain facts, one a line (extract.form)"
)


async def extract(run: Run, missing: str, results: Sequence[ToolResult], form: Extraction) -> Extraction:
    """Asks for what the results say, and writes it.

    Args:
        run: The run at this step.
        missing: What is missing.
        results: The round's tool results.
        form: How facts are written at the moment.

    Returns:
        How facts are written from now on: with ``extract.form`` at ``auto``, a reply that could not be mended leads
        from statements to facts, and this round's results are asked for once more in that form.
    """
    if form == "statements":
        written = await _pass(run.at("statements"), missing, results, form)
        if written or run.options.extract_form != "auto":
            return form
        run.notice(FACTS_NOTICE)
    await _pass(run.at("facts"), missing, results, "facts")
    return "facts"


async def _pass(run: Run, missing: str, results: Sequence[ToolResult], form: Extraction) -> bool:
    """One reply, written; a reply that was cut off is followed by one that asks for less.

    Returns:
        Whether every statement could be run, or there was nothing to write.
    """
    first = results_name(0)
    slots = {"missing": missing, "example_source": first}
    if form == "statements":
        slots["fence"] = run.graph.dialect.fence

    def tail(tokens: int) -> str:
        return run.prompt(f"extract_{form}", results=show_results(results, tokens), **slots)

    async def ask(step: str, text: str | None = None) -> Completion:
        reply = await run.ask_with_state(step, "extract", text or tail, max_tokens=run.options.extract_max_tokens)
        return reply.completions[0]

    completion = await ask("reply")
    good = await _write(run.at("reply"), completion, results, form)
    if completion.truncated:
        text = tail(run.options.result_tokens) + "\n" + run.prompt("extract_less", missing=missing)
        completion = await ask("rest", text)
        good = await _write(run.at("rest"), completion, results, form) or good
    return good


async def _write(run: Run, completion: Completion, results: Sequence[ToolResult], form: Extraction) -> bool:
    if form == "facts":
        return await _write_facts(run, completion, results)
    blocks = [block for block in read_blocks(completion.text) if block.text.strip()]
    whole = [block for block in blocks if block.closed or not completion.truncated]
    if not whole:
        return _says_nothing(completion.text)
    distinct = list({block.text.strip(): block for block in whole}.values())
    chains = [_write_block(run.at(number), block, results) for number, block in enumerate(distinct, 1)]
    if run.graph.concurrency == 1:
        return all([await chain for chain in chains])
    return all(await side_by_side(chains))


async def _write_block(run: Run, block: Block, results: Sequence[ToolResult]) -> bool:
    if repeats_example(block.text, run.graph.dialect.write_examples):
        run.emit(StatementDropped(statement=block.text, error="it repeats the prompt's example"))
        return False
    sources = sources_of(block.info, results)

    async def execute(step: str, statement: str) -> bool:
        await run.graph.write(step, statement, sources)
        return True

    return await run_with_repairs(run, block.text.strip(), "write", execute) is True


async def _write_facts(run: Run, completion: Completion, results: Sequence[ToolResult]) -> bool:
    """Each line has its own fate: what can be read is written, the rest is recorded.

    Returns:
        Whether something was written, was known already, or there was nothing to write.
    """
    blocks = read_blocks(completion.text)
    if not any(read_lines(block.text.splitlines()).facts for block in blocks):
        blocks = (Block("", "", strip_reasoning(completion.text), True, 1),)
    example = run.prompt_text("extract_facts")
    understood = False
    for number, block in enumerate(blocks, 1):
        lines = [line for line in block.text.splitlines() if not repeats_example(line, (example,))]
        cut = completion.truncated and block is blocks[-1] and not (block.closed and block.language)
        reading = read_facts("\n".join(lines), cut=cut)
        outcome = facts_to_change(reading.facts, run.graph.state, new_ids(run.graph.state))
        for problem in (*reading.problems, *outcome.problems):
            run.emit(StatementDropped(statement=problem.text, error=problem.reason))
        for replaced in outcome.replaced:
            run.emit(_replaced(replaced))
        understood = understood or bool(reading.facts)
        if not outcome.change:
            continue
        try:
            await run.graph.apply(f"{run.path}/{number}", outcome.change, sources_of(block.info, results))
        except QueryError as error:
            run.emit(StatementDropped(statement=block.text, error=str(error)))
    return understood or _says_nothing(completion.text)


def _replaced(replaced: Replaced) -> ValueReplaced:
    return ValueReplaced(
        element=replaced.element_id, name=replaced.name, old=encode(replaced.old), new=encode(replaced.new)
    )


def results_name(place: int) -> str:
    """Gives the name by which requests refer to a tool result, counted from 0."""
    return f"r{place + 1}"


def show_results(results: Sequence[ToolResult], tokens: int) -> str:
    """Shows tool results within a number of tokens, shared equally."""
    if not results:
        return "(no tool was called)"
    share = tokens // len(results)
    return "\n".join(
        tagged(
            "result",
            ("This call failed: " if result.failed else "") + shorten(result.text, share),
            id=results_name(place),
            tool=result.name,
        )
        for place, result in enumerate(results)
    )


def sources_of(info: str, results: Sequence[ToolResult]) -> tuple[str, ...]:
    """Reads which sources a block names; without a name it may rest on any of the results."""
    words = set(re.findall(r"[\w-]+", info.casefold()))
    named = [result.step for place, result in enumerate(results) if results_name(place) in words]
    named += [word for word in ("task", "model") if word in words]
    return tuple(dict.fromkeys(named or [result.step for result in results] or ["model"]))


def _says_nothing(text: str) -> bool:
    return re.fullmatch(r"\W*nothing\W*", text.strip(), re.IGNORECASE) is not None
