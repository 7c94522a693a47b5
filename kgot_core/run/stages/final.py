"""The final choice: one whole solution, or several that are voted on, and whether they agree enough to be given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from kgot_core.contracts.run import Run
from kgot_core.contracts.task import Outcome
from kgot_core.contracts.voter import Ballot, Vote
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.run.desks.voting import record
from kgot_core.run.stages.finish import Finished

ABSTAINED = "I do not know"


async def choose_final(run: Run, solve: Callable[[int], Awaitable[Finished]]) -> Outcome:
    """Chooses among whole solutions.

    Args:
        run: The run at this step.
        solve: Solves the task from the graph, calculates and parses, by itself for each number from 1.

    Returns:
        How the run ends: an answer, none, or that the solutions agree too little.
    """

    async def vote(number: int) -> Vote:
        done = await solve(number)
        basis = "; ".join(item.text for item in done.outcome.evidence)
        return Vote(done.key, f"it rests on {basis}" if basis else "", done.outcome, done.outcome.text)

    async def draw(first: int, count: int) -> Sequence[Vote]:
        return await side_by_side(vote(number) for number in range(first, first + count))

    # Solutions come one by one, but where the agreement decides, a majority that is certain is not enough.
    ballot = Ballot("final", run.options.final_votes, draw, at_once=run.options.abstain_below > 0, redraw=False)
    choice = await run.vote(ballot)
    outcome: Outcome = (choice.supporting() or choice.votes)[0].payload
    if ballot.size > 1:
        record(run, ballot, choice)
        outcome = _with_agreement(outcome, choice.agreement, choice.counts.get(choice.key or "", 0), len(choice.votes))
    return _unless_doubtful(run, outcome)


def _with_agreement(outcome: Outcome, agreement: float, number: int, total: int) -> Outcome:
    """Adds how far the solutions agree; an answer is no surer than the least sure of the votes it went through."""
    if outcome.agreement is None:
        return outcome
    reason = f"{number} of {total} solutions agree; {outcome.reason}"
    return replace(outcome, agreement=min(outcome.agreement, agreement), reason=reason)


def _unless_doubtful(run: Run, outcome: Outcome) -> Outcome:
    """Gives an outcome, or in the place of an answer with too little agreement that it is not known."""
    least = run.options.abstain_below
    if outcome.status != "answered" or outcome.agreement is None or outcome.agreement >= least:
        return outcome
    reason = f"the agreement of {outcome.agreement:.2f} is below {least:g}: {outcome.reason}"
    return Outcome(
        ABSTAINED, "abstained", outcome.how, None, reason, iterations=outcome.iterations, agreement=outcome.agreement
    )
