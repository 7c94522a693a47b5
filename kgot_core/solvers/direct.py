"""Solve by reading the graph: Direct Retrieval (paper, sections 2.3 and C.3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal, Solver
from kgot_core.errors import Unreadable
from kgot_core.events import SolveFailed
from kgot_core.reading.blocks import strip_reasoning
from kgot_core.reading.decision import read_decision
from kgot_core.reading.unknown import says_unknown
from kgot_core.run.prompting.examples import copies_decision
from kgot_core.run.prompting.transcript import asked_again
from kgot_core.run.stages.evidence import match_names


class DirectSolver(Solver):
    """Takes the votes' answers in order of support; asks for one if there is none."""

    form = "direct"

    async def solve(self, run: Run, proposals: Sequence[Proposal]) -> Sequence[Candidate]:
        """Gives the votes' distinct answers, or one that is asked for; a reply that cannot be read is asked anew."""
        said = [proposal for proposal in proposals if proposal.text.strip() and not says_unknown(proposal.text)]
        candidates = [_candidate(run, proposal) for proposal in said]
        if candidates:
            return candidates
        if not len(run.graph.state):
            run.emit(SolveFailed(form="direct", cause="the graph is empty"))
            return ()
        earlier, told = "", set[str]()
        for number in range(1 + run.options.limits.max_retrieve_query_retry):
            step = "answer" if number == 0 else f"answer-{number + 1}"
            tail = run.prompt("direct", question=asked_again(run.task.question), earlier=earlier)
            reply = await run.ask_with_state(step, "direct", tail)
            completion = reply.completions[0]
            try:
                proposal = _read(run, completion.text, completion.truncated)
            except Unreadable as error:
                cause = error.message
                if cause in told:
                    break
                told.add(cause)
                earlier = run.prompt("again", problem=cause)
                continue
            if proposal is None:
                cause = "the graph does not hold the answer"
                break
            return (_candidate(run, proposal),)
        run.emit(SolveFailed(form="direct", cause=cause))
        return ()


def _read(run: Run, text: str, cut: bool) -> Proposal | None:
    """Reads an answer; ``None`` where the reply says that the graph does not hold it.

    Raises:
        Unreadable: There is no answer in it.
    """
    if re.match(r"\W*missing\b", strip_reasoning(text), re.IGNORECASE):
        return None
    if copies_decision(text, run.graph.dialect):
        raise Unreadable("the reply repeats the example, which is not part of this task")
    decision = read_decision(f"SOLVE\n{strip_reasoning(text)}", "direct", cut=cut)
    if not decision.payload.strip():
        raise Unreadable("the reply holds no answer")
    if says_unknown(decision.payload):
        return None
    return Proposal(decision.payload.strip(), 1, decision.basis)


def _candidate(run: Run, proposal: Proposal) -> Candidate:
    return Candidate(proposal.text, "direct", elements=match_names(run.graph.state, proposal.basis, run.graph.dialect))
