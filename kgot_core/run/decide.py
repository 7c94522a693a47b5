"""Decide whether the graph holds the answer (paper, B.1.1 ``define_next_step`` and C.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Proposal
from kgot_core.contracts.voter import Ballot, Choice, Vote
from kgot_core.errors import Unreadable
from kgot_core.events import Voted
from kgot_core.reading.decision import Decision, read_decision
from kgot_core.reading.echo import repeats_example
from kgot_core.run.evidence import match_names
from kgot_core.run.rules import decide_examples


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
    fence = run.graph.dialect.fence
    tail = run.prompt(
        "decide", form=run.prompt("decide_query", fence=fence) if form == "query" else run.prompt("decide_direct")
    )
    examples = decide_examples(run.graph.dialect, form)

    async def draw(first: int, count: int) -> Sequence[Vote]:
        reply = await run.ask_with_state(
            f"votes-{first}", "decide", tail, n=count, temperature=run.options.vote_temperature
        )
        return [
            _vote(run, completion.text, form, examples, last_round, completion.truncated)
            for completion in reply.completions
        ]

    ballot = Ballot(
        stage="decide",
        size=run.options.limits.num_next_steps_decision,
        draw=draw,
        tie="enhance",
        at_once=await run.samples_at_once("at-once", "graph"),
    )
    choice = await run.vote(ballot)
    verdict = _verdict(choice)
    run.emit(
        Voted(
            stage="decide",
            choice="solve" if verdict.solve else "enhance",
            counts=dict(choice.counts),
            unreadable=sum(vote.key is None for vote in choice.votes),
            reasons=tuple(dict.fromkeys(vote.reason for vote in choice.votes if vote.reason)),
        )
    )
    return verdict


def _vote(run: Run, text: str, form: str, examples: Sequence[str], last_round: bool, cut: bool) -> Vote:
    try:
        decision = read_decision(text, "query" if form == "query" else "direct")
    except Unreadable as error:
        return Vote(None, error.message)
    if cut and decision.verdict == "solve":
        return Vote(None, "the reply was cut off by the token limit")
    if repeats_example(text, examples):
        return Vote(None, "the reply repeats the prompt's example")
    if decision.verdict == "solve" and form == "direct" and not last_round and not _rests_on_graph(run, decision):
        return Vote("enhance", "the answer was not shown to rest on anything in the graph")
    return Vote(decision.verdict, decision.reason, decision)


def _rests_on_graph(run: Run, decision: Decision) -> bool:
    return bool(match_names(run.graph.state, decision.basis))


def _verdict(choice: Choice) -> Verdict:
    if choice.key == "solve":
        supporting = [vote.payload for vote in choice.supporting() if isinstance(vote.payload, Decision)]
        merged: dict[str, list[Decision]] = {}
        for decision in supporting:
            if decision.payload.strip():
                merged.setdefault(decision.payload.strip(), []).append(decision)
        ranked = sorted(merged.items(), key=lambda item: -len(item[1]))
        proposals = tuple(Proposal(text, len(votes), votes[0].basis) for text, votes in ranked)
        return Verdict(True, proposals or (Proposal(""),))
    reasons = [vote.reason.strip() for vote in choice.votes if vote.key == "enhance" and vote.reason.strip()]
    return Verdict(False, missing=merge_reasons(reasons) or "what the task asks for is not in the graph yet")


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
