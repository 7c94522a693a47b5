"""Tool results as the extraction sees them, and as the sources of what it writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kgot_core.contracts.prompts import kept_inside, tagged
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.models.tokens import estimate_tokens
from kgot_core.run.faults import said
from kgot_core.run.prompting.transcript import shorten
from kgot_core.sandboxes.files import safe_form


def results_name(place: int) -> str:
    """Gives the name by which requests refer to a tool result, counted from 0."""
    return f"r{place + 1}"


def keep_long(run: Run, results: Sequence[ToolResult]) -> list[ToolResult]:
    """Writes each result that cannot be shown whole into a file of the run, where scripts and tools can read on.

    Args:
        run: The run at the step of a round.
        results: The round's results.
    """
    sizes = [estimate_tokens(result.text) for result in results]
    shares = _shares(sizes, run.options.result_tokens)
    return [
        result if size <= share else replace(result, whole=_keep(run, result))
        for result, size, share in zip(results, sizes, shares, strict=True)
    ]


def show_results(results: Sequence[ToolResult], tokens: int) -> str:
    """Shows tool results within a number of tokens: short ones whole, the rest shared equally by the long ones."""
    if not results:
        return "(no tool was called)"
    shares = _shares([estimate_tokens(result.text) for result in results], tokens)
    return "\n".join(
        tagged(
            "result",
            ("This call failed: " if result.failed else "") + _inside(_shown(result, share)),
            id=results_name(place),
            tool=result.name,
        )
        for place, (result, share) in enumerate(zip(results, shares, strict=True))
    )


def sources_of(info: str, results: Sequence[ToolResult]) -> tuple[str, ...]:
    """Reads which sources a block names; without a name it may rest on any of the results."""
    words = set(re.findall(r"[\w-]+", info.casefold()))
    named = [result.step for place, result in enumerate(results) if results_name(place) in words]
    named += [word for word in ("task", "model") if word in words]
    return tuple(dict.fromkeys(named or [result.step for result in results] or ["model"]))


def known_text(run: Run, results: Sequence[ToolResult]) -> str:
    """Gives all that the task and the results say, in lower case: what stands there is not invented."""
    return "\n".join((run.task.question, *(result.text for result in results))).casefold()


def _keep(run: Run, result: ToolResult) -> str:
    # The name is the same after a resume, and so is what the model is told.
    path = run.files.folder / safe_form(f"{result.name}-{result.step.replace('/', '-')}.txt")
    try:
        path.write_text(result.text, encoding="utf-8", errors="replace")
    except OSError as error:
        run.notice(f"a long result could not be kept as a file: {said(error)}")
        return ""
    return run.files.add(path)


def _shown(result: ToolResult, tokens: int) -> str:
    short = shorten(result.text, tokens)
    if short == result.text or not result.whole:
        return short
    return f"{short}\n[All {len(result.text):,} characters are in the file {result.whole}; tools can read on there.]"


def _inside(text: str) -> str:
    """Keeps a result from closing the tag that all results stand in; its own tag is kept by ``tagged``."""
    return kept_inside("new_information", text)


def _shares(sizes: Sequence[int], tokens: int) -> list[int]:
    shares = [0] * len(sizes)
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        shares[place] = min(sizes[place], tokens // (len(sizes) - done))
        tokens -= shares[place]
    return shares
