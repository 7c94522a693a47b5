"""Write what the tools brought into the graph: as statements of its language, or as facts (paper, C.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.graph.elements import Element
from kgot_core.graph.facts import read_lines
from kgot_core.reading.blocks import Block, read_blocks, strip_reasoning
from kgot_core.run.prompting.results import results_name, show_results
from kgot_core.run.prompting.transcript import asked_again, shorten
from kgot_core.run.stages.facts import write_facts
from kgot_core.run.stages.statements import write_once, write_statements
from kgot_core.run.stages.triples import triples_as_lines
from kgot_core.run.stages.written import Written, all_written, says_nothing

Extraction: TypeAlias = Literal["statements", "facts"]
FACTS_NOTICE = (
    "the model's statements could not be mended; from here on it writes plain facts, one a line (extract.form)"
)
WRITTEN_TOKENS = 1_000


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
    if form == "facts":
        await _pass(run.at("facts"), missing, results, form)
        return form
    outcome = await _pass(run.at("statements"), missing, results, form)
    if outcome in ("written", "nothing") or run.options.extract_form != "auto":
        return form
    again = await _pass(run.at("facts"), missing, results, "facts")
    if outcome == "unreadable" and again != "written":
        # Prose that brought no fact in the other form either most likely says that there is nothing to write.
        return form
    run.notice(FACTS_NOTICE)
    return "facts"


async def _pass(run: Run, missing: str, results: Sequence[ToolResult], form: Extraction) -> Written:
    """One reply, written; a reply that was cut off is followed by one that asks for less."""
    slots = {"question": asked_again(run.task.question), "missing": missing, "example_source": results_name(0)}
    if form == "statements":
        slots["fence"] = run.graph.dialect.fence
    before = {element.id: element for element in run.graph.state}

    def tail(tokens: int) -> str:
        return run.prompt(f"extract_{form}", results=show_results(results, tokens), **slots)

    def rest(tokens: int) -> str:
        return f"{tail(tokens)}\n{run.prompt('extract_less', missing=missing, written=_written_since(run, before))}"

    limit = run.options.extract_max_tokens
    reply = await run.ask_with_state("reply", "extract", tail, max_tokens=limit)
    completion = reply.completions[0]
    outcomes = [await _write(run.at("reply"), completion, results, form)]
    if completion.truncated:
        reply = await run.ask_with_state("rest", "extract", rest, max_tokens=limit)
        outcomes.append(await _write(run.at("rest"), reply.completions[0], results, form))
    return all_written(outcomes)


async def _write(run: Run, completion: Completion, results: Sequence[ToolResult], form: Extraction) -> Written:
    if form == "statements":
        return await write_statements(run, completion, results)
    blocks = [block for block in read_blocks(completion.text) if block.text.strip()]
    facts = [block for block in blocks if read_lines(triples_as_lines(block.text).splitlines()).facts]
    if facts:
        cut = completion.truncated and not facts[-1].closed
        return await write_facts(run, facts, results, cut)
    text = strip_reasoning(completion.text)
    if not blocks and not says_nothing(text):
        return await write_facts(run, (Block("", "", text, True, 1),), results, completion.truncated)
    # A model that has learned to write statements all the same is understood, but not mended.
    fence = run.graph.dialect.fence
    statements = [block for block in blocks if block.language == fence and block.closed]
    outcomes = [await write_once(run.at(number), block, results) for number, block in enumerate(statements, 1)]
    return all_written(outcomes) if outcomes else "nothing" if says_nothing(text) else "unreadable"


def _written_since(run: Run, before: Mapping[str, Element]) -> str:
    """Shows what is new in the graph, within some tokens."""
    new = [element for element in run.graph.state if before.get(element.id) is not element]
    lines = run.graph.dialect.lines(new, run.graph.state)
    return shorten("\n".join(lines), WRITTEN_TOKENS) if lines else "(nothing)"
