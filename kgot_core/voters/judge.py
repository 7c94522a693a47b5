"""LLM-as-a-judge: where samples disagree, a model weighs their reasons."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.model import Reply
from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter, count
from kgot_core.errors import ModelError, Unreadable
from kgot_core.reading.chosen import read_chosen
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.run.prompting.transcript import asked_again, shorten
from kgot_core.voters.drawing import draw_all

MOST_SHOWN = 3


class JudgeVoter(Voter):
    """Draws all samples; where they disagree, the model of the role ``judge`` chooses among what they are for.

    Candidates stand in the order of their keys, so that neither support nor timing shows, and are judged in both
    orders. Where the two verdicts differ, the one that more samples are for wins; where none can be read, the majority.

    Args:
        both_orders: Ask a second time, with the candidates in reverse.
    """

    def __init__(self, both_orders: bool) -> None:
        self._both_orders = both_orders

    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws samples and lets the judge choose."""
        votes = await draw_all(ballot)
        keys = sorted(count(votes))
        if len(keys) < 2:
            return Choice.of(ballot.leader(votes), votes)
        orders = [keys, keys[::-1]] if self._both_orders else [keys]
        verdicts = await side_by_side(
            _verdict(run, f"judge-{number}", ballot, order, votes) for number, order in enumerate(orders, 1)
        )
        chosen = [verdict for verdict in verdicts if verdict is not None]
        if not chosen:
            run.notice(f"the judge gave no verdict on {ballot.stage}; the majority of the samples counts")
        # Where the verdicts differ, the judge cannot tell: among what it chose the samples decide.
        return Choice.of(ballot.leader([vote for vote in votes if not chosen or vote.key in chosen]), votes)


async def _verdict(run: Run, step: str, ballot: Ballot, order: Sequence[str], votes: Sequence[Vote]) -> str | None:
    """Gives the key that the judge chooses; ``None`` where it gives none."""
    try:
        reply = await _ask(run, step, ballot, order, votes)
        return order[read_chosen(reply.completions[0].text, len(order)) - 1]
    except (Unreadable, ModelError) as error:
        run.notice(f"a verdict of the judge on {ballot.stage} does not count: {error}")
        return None


async def _ask(run: Run, step: str, ballot: Ballot, order: Sequence[str], votes: Sequence[Vote]) -> Reply:
    def prompt(tokens: int) -> str:
        each = tokens // (len(order) + 1)
        candidates = [_sayings([vote for vote in votes if vote.key == key], each // MOST_SHOWN) for key in order]
        return run.prompt(
            "judge",
            about=run.prompt(f"judge_{ballot.stage}"),
            basis=tagged("known", shorten(ballot.basis, each)) if ballot.basis else "",
            candidates="\n".join(
                tagged("candidate", "\n\n".join(said), number=number) for number, said in enumerate(candidates, 1)
            ),
            question=asked_again(run.task.question),
        )

    if ballot.with_state:
        return await run.ask_with_state(step, ballot.stage, prompt, role="judge")
    return await run.ask(step, ballot.stage, prompt, role="judge")


def _sayings(votes: Sequence[Vote], tokens: int) -> list[str]:
    """Gives what the samples for one key say, each saying once, the fullest first: whatever order they came in."""
    said = sorted(set(map(_said, votes)), key=lambda text: (-len(text), text))
    return [shorten(text, tokens) for text in said[:MOST_SHOWN]]


def _said(vote: Vote) -> str:
    text = vote.text or str(vote.key)
    return text if vote.reason in text else f"{text}\nReason: {vote.reason}"
