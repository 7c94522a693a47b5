"""Decide whether the graph holds the answer (paper, B.1.1 ``define_next_step`` and C.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Proposal, SolveForm
from kgot_core.contracts.voter import Ballot, Choice, Vote
from kgot_core.errors import Unreadable
from kgot_core.reading.blocks import read_blocks
from kgot_core.reading.decision import Decision, read_decision
from kgot_core.reading.unknown import says_unknown
from kgot_core.run.desks.voting import record
from kgot_core.run.prompting.examples import copies_decision
from kgot_core.run.prompting.transcript import asked_again
from kgot_core.run.stages.evidence import match_names

LONGEST_REASON = 500
NOTHING_KNOWN = "what the task asks for is not in the graph yet"
UNKNOWN = "the answer was that it is not known"
UNSUPPORTED = "an answer was given, but nothing in the graph was named that it rests on"


@dataclass(frozen=True)
class Verdict:
    """The outcome of the votes.

    Attributes:
        solve: The graph holds the answer.
        proposals: Distinct queries or answers of the Solve votes, most supported first.
        missing: What the Enhance votes say is missing, merged.
    """

    solve: bool
    proposals: tuple[Proposal, ...] = ()
    missing: str = ""


async def decide(run: Run, last_round: bool) -> Verdict:
    """Puts Solve or Enhance to the vote; a tie means Enhance, and so do votes that cannot be read.

    Args:
        run: The run at this step.
        last_round: No further round is left after this one: a direct answer then counts even if it names no element.
    """
    form = run.solver.form
    slots = {"fence": run.graph.dialect.fence} if form == "query" else {}
    tail = run.prompt("decide", question=asked_again(run.task.question), form=run.prompt(f"decide_{form}", **slots))

    async def draw(first: int, count: int) -> Sequence[Vote]:
        reply = await run.ask_with_state(
            f"votes-{first}", "decide", tail, n=count, temperature=run.options.vote_temperature
        )
        return [_vote(run, completion, last_round) for completion in reply.completions]

    ballot = Ballot(
        stage="decide",
        size=run.options.limits.num_next_steps_decision,
        draw=draw,
        tie="enhance",
        at_once=await run.samples_at_once("at-once", "graph"),
        with_state=True,
    )
    choice = await run.vote(ballot)
    verdict = _verdict(choice, form)
    record(run, ballot, choice, "solve" if verdict.solve else "enhance")
    return verdict


def _vote(run: Run, completion: Completion, last_round: bool) -> Vote:
    form = run.solver.form
    text, cut = completion.text, completion.truncated
    if copies_decision(text, run.graph.dialect):
        return Vote(None, "the reply repeats the prompt's example")
    try:
        decision = read_decision(text, form, cut=cut)
    except Unreadable as error:
        return Vote(None, error.message)
    if decision.verdict == "enhance":
        return Vote("enhance", decision.reason, decision, f"enhance\n{decision.reason}")
    if cut and not any(block.closed for block in read_blocks(text)):
        return Vote(None, "the reply was cut off by the token limit")
    if form == "direct" and says_unknown(decision.payload):
        return Vote("enhance", UNKNOWN, text="enhance")
    if form == "direct" and not last_round and not match_names(run.graph.state, decision.basis, run.graph.dialect):
        # Not the vote's own words: a guess must not become a fact on its way through the reasons.
        return Vote("enhance", UNSUPPORTED, text="enhance")
    return Vote("solve", decision.reason, decision, f"solve\n{decision.reason}\n{decision.payload}")


def _verdict(choice: Choice, form: SolveForm) -> Verdict:
    if choice.key == "solve":
        return Verdict(True, _proposals([vote.payload for vote in choice.supporting()], form) or (Proposal(""),))
    reasons = [vote.reason.strip()[:LONGEST_REASON] for vote in choice.votes if vote.key == "enhance"]
    found = [reason for reason in reasons if reason and reason not in (UNKNOWN, UNSUPPORTED)]
    return Verdict(False, missing=merge_reasons(found) or NOTHING_KNOWN)


def _proposals(decisions: Sequence[Decision], form: SolveForm) -> tuple[Proposal, ...]:
    """Gives distinct queries or answers, most supported first; of equally supported ones the earlier first."""
    merged: dict[str, list[Decision]] = {}
    for decision in decisions:
        text = decision.payload.strip()
        same = _plain(text) if form == "direct" else "\n".join(line.rstrip() for line in text.splitlines())
        if same:
            merged.setdefault(same, []).append(decision)
    ranked = sorted(merged.values(), key=lambda votes: -len(votes))
    return tuple(
        Proposal(
            votes[0].payload.strip(), len(votes), tuple(dict.fromkeys(name for vote in votes for name in vote.basis))
        )
        for votes in ranked
    )


def merge_reasons(reasons: Sequence[str]) -> str:
    """Merges reasons into one list without repeats; one that is contained in another is left out (paper, C.2)."""
    distinct: list[str] = []
    for reason in sorted(dict.fromkeys(reasons), key=len, reverse=True):
        plain = _plain(reason)
        if not any(plain in _plain(longer) for longer in distinct):
            distinct.append(reason)
    ordered = [reason for reason in dict.fromkeys(reasons) if reason in distinct]
    return ordered[0] if len(ordered) == 1 else "\n".join(f"- {reason}" for reason in ordered)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .;,")
