"""Solve by reading the graph: Direct Retrieval (paper, sections 2.3 and C.3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal, Solver
from kgot_core.errors import Unreadable
from kgot_core.events import SolveFailed
from kgot_core.reading.decision import read_decision
from kgot_core.reading.echo import repeats_example
from kgot_core.run.evidence import match_names
from kgot_core.run.rules import decide_examples


class DirectSolver(Solver):
    """Takes the votes' answers in order of support; asks for one if there is none."""

    form = "direct"

    async def solve(self, run: Run, proposals: Sequence[Proposal]) -> Sequence[Candidate]:
        """Gives the votes' distinct answers, or one that is asked for."""
        candidates = [_candidate(run, proposal) for proposal in proposals if proposal.text.strip()]
        if candidates:
            return candidates
        if not len(run.graph.state):
            run.emit(SolveFailed(form="direct", cause="the graph is empty"))
            return ()
        reply = await run.ask_with_state("answer", "direct", run.prompt("direct"))
        text = reply.completions[0].text
        examples = decide_examples(run.graph.dialect, "direct")
        if re.match(r"\W*missing\b", text.strip(), re.IGNORECASE) or repeats_example(text, examples):
            run.emit(SolveFailed(form="direct", cause="the graph does not hold the answer"))
            return ()
        try:
            decision = read_decision(f"SOLVE\n{text}", "direct")
        except Unreadable as error:
            run.emit(SolveFailed(form="direct", cause=error.message))
            return ()
        if not decision.payload.strip():
            run.emit(SolveFailed(form="direct", cause="the reply holds no answer"))
            return ()
        return (_candidate(run, Proposal(decision.payload.strip(), 1, decision.basis)),)


def _candidate(run: Run, proposal: Proposal) -> Candidate:
    return Candidate(proposal.text, "direct", elements=match_names(run.graph.state, proposal.basis))
