"""One Enhance round: choose tools, run them side by side, write what they found (paper, section 4)."""

from __future__ import annotations

from kgot_core.contracts.run import Run
from kgot_core.run.stages.clean import clean_round
from kgot_core.run.stages.extract import Extraction, extract
from kgot_core.run.stages.grounding import check_round
from kgot_core.run.stages.tool_calls import call_tools, choose_tools


async def enhance(run: Run, iteration: int, missing: str, form: Extraction) -> Extraction:
    """Runs one round and takes it into the state.

    Args:
        run: The run at this step.
        iteration: Number of the round, from 1.
        missing: What the votes say is missing.
        form: How facts are written at the moment.

    Returns:
        How facts are written from now on.
    """
    calls = await choose_tools(run.at("choose"), missing)
    results = await call_tools(run.at("tools"), calls)
    form = await extract(run.at("extract"), missing, results, form)
    await check_round(run.at("check"), results)
    await clean_round(run.at("clean"))
    run.end_round(iteration, results)
    return form
