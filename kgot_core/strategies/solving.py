"""The end of every run: an answer is taken from the graph, calculated and finished (paper, section 4 and B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal
from kgot_core.contracts.task import NO_SOLUTION, Outcome, Status
from kgot_core.errors import CapReached
from kgot_core.events import CapHit
from kgot_core.run.stages.clean import clean_for_solve, restore
from kgot_core.run.stages.compute import compute
from kgot_core.run.stages.evidence import describe
from kgot_core.run.stages.final import choose_final
from kgot_core.run.stages.finish import Finished, finish, no_solution
from kgot_core.solvers.direct import DirectSolver


async def solve(run: Run, proposals: Sequence[Proposal], iterations: int) -> Outcome:
    """Solves from the graph, cleaned where that is set; where the clean graph gives nothing, from it as it was.

    Args:
        run: The run.
        proposals: Queries or answers of the votes; a solve without any is forced.
        iterations: Enhance rounds made.
    """
    needed = [text for proposal in proposals for text in (proposal.text, *proposal.basis)]
    before = await clean_for_solve(run.at("clean"), needed)
    outcome = await _chosen(run, proposals, iterations)
    if before is None or outcome.status != "no_solution":
        return outcome
    await restore(run.at("clean"), before)
    return await _chosen(run.at("restored"), (), iterations)


async def solve_within_reserve(run: Run, cap: str, iterations: int) -> Outcome:
    """Solves once within what is kept of a cap that was reached.

    Args:
        run: The run.
        cap: The cap, in words.
        iterations: Enhance rounds made.
    """
    run.emit(CapHit(cap=cap))
    run.release_reserve()
    try:
        outcome = (await _solution(run.at("capped"), (), "forced", iterations)).outcome
    except CapReached as reached:
        return Outcome(NO_SOLUTION, "no_solution", reason=f"stopped at {reached}", iterations=iterations)
    status: Status = "capped" if outcome.status == "answered" else outcome.status
    return replace(outcome, status=status, reason=f"stopped at {cap}; {outcome.reason}")


async def _chosen(run: Run, proposals: Sequence[Proposal], iterations: int) -> Outcome:
    """Lets the final choice have as many solutions as it wants; those after the first write their own query."""
    how = "voted" if proposals else "forced"

    async def solution(number: int) -> Finished:
        if number == 1:
            return await _solution(run, proposals, how, iterations)
        return await _solution(run.at("again", number), (), how, iterations)

    return await choose_final(run.at("final"), solution)


async def _solution(run: Run, proposals: Sequence[Proposal], how: str, iterations: int) -> Finished:
    """Solves by the run's solver, else by reading the graph, else says that there is no solution."""
    solver = run.solver
    candidates = await solver.solve(run.at("solve"), proposals)
    if not candidates and solver.form != "direct":
        candidates = await DirectSolver().solve(run.at("solve", "fallback"), ())
        how = "fallback"
    if not candidates:
        reason = "the graph gave no answer" if len(run.graph.state) else "nothing was found out"
        return no_solution(reason, iterations)
    return await _finish(run, candidates[0], f"{how} {candidates[0].how}", iterations)


async def _finish(run: Run, candidate: Candidate, how: str, iterations: int) -> Finished:
    # What is left to do is the last answer.
    run.release_reserve()
    try:
        findings = await compute(run.at("compute"), candidate.text)
        return await finish(run.at("finish"), candidate, findings, how, iterations)
    except CapReached as reached:
        # What the graph gave is worth more than nothing, unless the value's form was asked for.
        status: Status = "capped" if run.options.answer_schema is None else "failed"
        reason = f"stopped at {reached}, before the final parse"
        evidence = describe(run, candidate.elements)
        return Finished(Outcome(candidate.text, status, how, None, reason, evidence, iterations), None)
