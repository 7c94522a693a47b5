"""Check what a round wrote against the sources it cites: what is not in them is the model's own (paper, 2.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.events import SourcesChecked
from kgot_core.graph.elements import Element
from kgot_core.graph.grounding import SourceText, unsupported
from kgot_core.reading.numbered import read_numbered
from kgot_core.run.prompting.results import show_results
from kgot_core.run.stages.removal import remove

REASON = "its source does not say so"


async def check_round(run: Run, results: Sequence[ToolResult]) -> None:
    """Marks the elements that a round added or changed whose values do not stand in their sources.

    Where ``checks.model`` is on, a model is asked about those, and what it rejects is removed with its reason.

    Args:
        run: The run at this step.
        results: The round's tool results.
    """
    if not run.options.check_sources:
        return
    found = _unsupported(run)
    for element_id in run.graph.touched:
        if run.graph.origin(element_id) is not None:
            run.graph.mark_unsupported(element_id, found.get(element_id, ()))
    if not found:
        return
    run.emit(SourcesChecked(unsupported={element_id: list(names) for element_id, names in found.items()}))
    if run.options.check_by_model:
        await _ask(run, found, results)


def _unsupported(run: Run) -> dict[str, tuple[str, ...]]:
    sources: dict[tuple[str, ...], SourceText] = {}
    found = {}
    for element_id in run.graph.touched:
        element, origin = run.graph.state.get(element_id), run.graph.origin(element_id)
        if element is None or element.inferred or origin is None:
            continue
        if origin.sources not in sources:
            # The task's own words support whatever the source is.
            cited = [result.text for step in origin.sources if (result := run.tools.result(step))]
            sources[origin.sources] = SourceText("\n".join([run.task.question, *run.files.names(), *cited]))
        if names := unsupported(element, sources[origin.sources]):
            found[element.id] = names
    return found


async def _ask(run: Run, found: Mapping[str, tuple[str, ...]], results: Sequence[ToolResult]) -> None:
    elements = [element for element_id in found if (element := run.graph.state.get(element_id))]
    lines = [f"{number}: {_line(run, element)}" for number, element in enumerate(elements, 1)]

    def prompt(tokens: int) -> str:
        slots = {"question": run.task.question, "statements": "\n".join(lines)}
        return run.prompt("check_sources", results=show_results(results, tokens), **slots)

    reply = await run.ask("model", "check", prompt)
    rejected = read_numbered(reply.completions[0].text, len(elements))
    reasons = {elements[number - 1].id: reason or REASON for number, reason in rejected.items()}
    await remove(run, "rejected", reasons)


def _line(run: Run, element: Element) -> str:
    return run.graph.dialect.line(element, run.graph.state)
