"""The loop of Knowledge Graph of Thoughts, the same for every backend (paper, section 4 and B.1)."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import Outcome
from kgot_core.events import IterationStarted
from kgot_core.run.compute import compute
from kgot_core.run.decide import decide
from kgot_core.run.enhance import enhance
from kgot_core.run.extract import Extraction
from kgot_core.run.finish import NO_SOLUTION, finish
from kgot_core.solvers.direct import DirectSolver


class KGoTLoop(Strategy):
    """Enhance until the votes say Solve or the limit is reached; then solve, compute and finish."""

    async def run(self, run: Run) -> Outcome:
        """Runs the task to its end."""
        form: Extraction = "facts" if run.options.extract_form == "facts" else "statements"
        limit = run.options.limits.max_iterations
        for iteration in range(1, limit + 1):
            run.emit(IterationStarted(iteration=iteration, limit=limit))
            verdict = await decide(run.at(iteration, "decide"), last_round=iteration == limit)
            if verdict.solve:
                return await self._solve(run, verdict.proposals, iteration - 1)
            form = await enhance(run.at(iteration, "enhance"), iteration, verdict.missing, form)
        return await self._solve(run, (), limit)

    async def _solve(self, run: Run, proposals: Sequence[Proposal], iterations: int) -> Outcome:
        """Solves by the run's solver, else by reading the graph, else says that there is no solution."""
        solver = run.solver
        candidates = await solver.solve(run.at("solve"), proposals)
        how = "voted" if proposals else "forced"
        if not candidates and solver.form != "direct":
            candidates = await DirectSolver().solve(run.at("solve", "fallback"), ())
            how = "fallback"
        if not candidates:
            reason = "the graph gave no answer" if len(run.graph.state) else "nothing was found out"
            return Outcome(NO_SOLUTION, "no_solution", reason=reason, iterations=iterations)
        return await self._finish(run, candidates[0], f"{how} {candidates[0].how}", iterations)

    async def _finish(self, run: Run, candidate: Candidate, how: str, iterations: int) -> Outcome:
        findings = await compute(run.at("compute"), candidate.text)
        return await finish(run.at("finish"), candidate, findings, how, iterations)
