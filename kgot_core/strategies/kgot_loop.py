"""The loop of Knowledge Graph of Thoughts, the same for every backend (paper, section 4 and B.1)."""

from __future__ import annotations

from kgot_core.contracts.run import Run
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import Outcome
from kgot_core.errors import CapReached
from kgot_core.events import IterationStarted
from kgot_core.run.stages.decide import decide
from kgot_core.run.stages.enhance import enhance
from kgot_core.run.stages.extract import Extraction
from kgot_core.strategies.solving import solve, solve_within_reserve


class KGoTLoop(Strategy):
    """Enhance until the votes say Solve or the limit is reached; then solve, compute and finish."""

    async def run(self, run: Run) -> Outcome:
        """Runs the task to its end; where a cap is reached on the way, solves from what is there."""
        done: list[int] = []
        try:
            return await self._run(run, done)
        except CapReached as reached:
            return await solve_within_reserve(run, str(reached), len(done))

    async def _run(self, run: Run, done: list[int]) -> Outcome:
        form: Extraction = "facts" if run.options.extract_form == "facts" else "statements"
        limit = run.options.limits.max_iterations
        for iteration in range(1, limit + 1):
            run.emit(IterationStarted(iteration=iteration, limit=limit))
            verdict = await decide(run.at(iteration, "decide"), last_round=iteration == limit)
            if verdict.solve:
                return await solve(run, verdict.proposals, iteration - 1)
            form = await enhance(run.at(iteration, "enhance"), iteration, verdict.missing, form)
            done.append(iteration)
        return await solve(run, (), limit)
