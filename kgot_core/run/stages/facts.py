"""Write facts, one a line, into any store: each line has its own fate (``extract.form``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.errors import QueryError
from kgot_core.events import StatementDropped, ValueReplaced
from kgot_core.graph.facts import Fact, facts_to_change, read_lines, show_fact
from kgot_core.graph.values import encode
from kgot_core.reading.blocks import Block
from kgot_core.reading.facts import read_facts
from kgot_core.run.ids import new_ids
from kgot_core.run.prompting.examples import copies_facts, invented_facts
from kgot_core.run.prompting.results import known_text, sources_of
from kgot_core.run.stages.triples import triples_as_lines
from kgot_core.run.stages.written import Written


def hold_facts(text: str) -> bool:
    """Tells whether a text is facts, not prose with a line that happens to look like one."""
    reading = read_lines(triples_as_lines(text).splitlines())
    return bool(reading.facts) and len(reading.problems) <= len({fact.line for fact in reading.facts})


async def write_facts(run: Run, blocks: Sequence[Block], results: Sequence[ToolResult], cut: bool = False) -> Written:
    """Writes the facts of blocks; what cannot be read or held is recorded and passed over.

    What the store or the graph's schema refuses goes back to the model with the reason, as often as a statement does.

    Args:
        run: The run at this reply's step.
        blocks: The blocks.
        results: The round's tool results.
        cut: The reply was cut off within the last line of the last block.
    """
    invented = invented_facts(run.prompt_text("extract_facts"), known_text(run, results))
    understood = False
    for number, block in enumerate(blocks, 1):
        lines = ["" if copies_facts(line, invented) else line for line in triples_as_lines(block.text).splitlines()]
        reading = read_facts("\n".join(lines), cut=cut and number == len(blocks))
        for problem in reading.problems:
            run.emit(StatementDropped(statement=problem.text, error=problem.reason))
        understood = understood or bool(reading.facts)
        await _write_mended(run.at(number), reading.facts, sources_of(block.info, results), invented)
    return "written" if understood else "unreadable"


async def _write_mended(run: Run, facts: Sequence[Fact], sources: Sequence[str], invented: frozenset[str]) -> None:
    tried: set[str] = set()
    for attempt in range(1 + run.options.limits.max_query_fixing_retry):
        refused = await _write(run.at(f"run-{attempt}"), facts, sources)
        shown = "\n".join(f"{show_fact(fact)}\n  refused: {reason}" for fact, reason in refused)
        if not refused or attempt == run.options.limits.max_query_fixing_retry or shown in tried:
            break
        tried.add(shown)
        tail = run.prompt("extract_refused", refused=shown)
        reply = await run.ask_with_state(f"repair-{attempt + 1}", "repair", tail)
        completion = reply.completions[0]
        lines = [line for line in completion.text.splitlines() if not copies_facts(line, invented)]
        facts = read_facts("\n".join(lines), cut=completion.truncated).facts
    for fact, reason in refused:
        run.emit(StatementDropped(statement=show_fact(fact), error=reason))


async def _write(run: Run, facts: Sequence[Fact], sources: Sequence[str]) -> list[tuple[Fact, str]]:
    """Writes facts at once, or one by one where something in them is refused.

    Returns:
        The facts that were refused, with the reason.
    """
    try:
        await _apply(run, f"{run.path}/all", facts, sources)
    except QueryError as error:
        if len(facts) == 1:
            return [(facts[0], str(error))]
    else:
        return []
    refused = []
    for number, fact in enumerate(facts, 1):
        try:
            await _apply(run, f"{run.path}/{number}", (fact,), sources)
        except QueryError as error:
            refused.append((fact, str(error)))
    return refused


async def _apply(run: Run, step: str, facts: Sequence[Fact], sources: Sequence[str]) -> None:
    outcome = facts_to_change(facts, run.graph.state, new_ids(run.graph))
    # Values that stood in the graph are told by the graph itself; here only those that came and went with these facts.
    passing = [item for item in outcome.replaced if run.graph.state.get(item.element_id) is None]
    if outcome.change:
        await run.graph.apply(step, outcome.change, sources)
    for problem in outcome.problems:
        run.emit(StatementDropped(statement=problem.text, error=problem.reason))
    for item in passing:
        replaced = ValueReplaced(element=item.element_id, name=item.name, old=encode(item.old), new=encode(item.new))
        run.emit(replace(replaced, sources=tuple(sources), earlier=tuple(sources)))
