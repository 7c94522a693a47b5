"""The conformance suite of voters. A third party subclasses :class:`VoterSuite` and names its provider.

Example:
    class TestMyVoter(VoterSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter
from kgot_core.providers import VoterProvider
from kgot_core.testing.runs import Setting, try_in_run
from kgot_core.testing.suite import Suite, check_provider, ready


@dataclass
class Box:
    """Samples that come one after another, the last one again and again, and how they were asked for.

    Attributes:
        keys: What they are for.
        asked: First number and count of each draw.
        alike: Samples for one key differ in nothing.
    """

    keys: Sequence[str | None]
    asked: list[tuple[int, int]] = field(default_factory=list)
    alike: bool = False

    async def draw(self, first: int, count: int) -> Sequence[Vote]:
        """Gives samples."""
        self.asked.append((first, count))
        assert first >= 1 and count >= 1, "draw(first, count) counts samples from 1, and asks for at least one"
        assert len(self.asked) <= 100, "the voter does not stop drawing"
        return [self.vote(number) for number in range(first, first + count)]

    def vote(self, number: int) -> Vote:
        """Gives the sample of a number."""
        key = self.keys[min(number, len(self.keys)) - 1]
        return Vote(key, f"reason {key}") if self.alike else Vote(key, f"reason {number}", number)


class VoterSuite(Suite):
    """What every voter does.

    Attributes:
        provider: The provider under test; or give the fixture ``voter``.
        settings: Its settings; the defaults where ``None``.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings", "voter"})
    provider: ClassVar[VoterProvider | None] = None
    settings: ClassVar[Any] = None

    @pytest.fixture
    def voter(self) -> Voter:
        """Gives the voter under test."""
        if self.provider is None:
            raise NotImplementedError("set provider, or give a fixture 'voter' that returns the voter under test")
        return self.provider.open(ready(self.provider, self.settings))

    def test_is_a_voter(self, voter: Voter) -> None:
        assert isinstance(voter, Voter), "open gives a kgot_core.contracts.voter.Voter"
        if self.provider is not None:
            check_provider(self.provider)

    @pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_what_all_are_for_wins(self, voter: Voter, size: int, at_once: bool) -> None:
        choice, _ = _chosen(voter, ["ENHANCE"], size, at_once=at_once)
        assert choice.key == "ENHANCE", f"all samples are for ENHANCE, but {choice.key} was chosen"

    def test_tells_what_it_drew(self, voter: Voter) -> None:
        for keys in (["a", "b", "a", None, "a"], ["a", "b", "c", "b", "b"], [None, "a", None, "a"]):
            choice, box = _chosen(voter, keys, 5)
            drawn = [box.vote(number) for number in range(1, sum(count for _, count in box.asked) + 1)]
            assert list(choice.votes) == drawn, "Choice.votes holds every sample that was drawn, in order, once"
            counts = Counter(vote.key for vote in drawn if vote.key is not None)
            assert dict(choice.counts) == dict(counts), "Choice.counts counts the readable samples for each key"
            assert choice.key in counts, f"the choice {choice.key!r} is none of the keys that were drawn"

    def test_samples_are_numbered_without_gaps(self, voter: Voter) -> None:
        for at_once in (True, False):
            _, box = _chosen(voter, ["a", "b", None, "a", "b", "a"], 5, at_once=at_once)
            following = 1
            for first, count in box.asked:
                assert first == following, (
                    f"draw({first}, {count}): the next sample is {following}, so that runs repeat"
                )
                following += count

    def test_unreadable_samples_choose_nothing(self, voter: Voter) -> None:
        choice, box = _chosen(voter, [None], 3)
        assert choice.key is None, f"where no sample can be read the key is None, not {choice.key!r}"
        assert sum(count for _, count in box.asked) <= 12, "unreadable samples must not be drawn again without end"

    def test_tie_goes_to_the_ballot_s_key(self, voter: Voter) -> None:
        choice, _ = _chosen(voter, ["a", "b"], 2, tie="b")
        counts = Counter(vote.key for vote in choice.votes)
        assert counts["a"] != counts["b"] or choice.key == "b", "Ballot.tie names the key that wins a tie"

    def test_order_of_a_tie_does_not_matter(self, voter: Voter) -> None:
        for at_once in (True, False):
            orders = sorted(set(permutations("aabb")))
            boxes = [Box(order, alike=True) for order in orders]
            chosen = {_put(voter, Ballot("decide", 4, box.draw, "a", at_once)).key for box in boxes}
            assert chosen == {"a"}, f"two samples for each of two keys, and a wins ties: not {sorted(map(str, chosen))}"

    def test_samples_that_must_not_be_drawn_again_are_not(self, voter: Voter) -> None:
        for keys in (["a", None, "b", None, "a"], [None]):
            _, box = _chosen(voter, keys, 5, redraw=False)
            drawn = sum(count for _, count in box.asked)
            assert drawn <= 5, f"without Ballot.redraw at most the ballot's 5 samples are drawn, not {drawn}"

    def test_agreement_is_a_share(self, voter: Voter) -> None:
        for keys in (["a"], ["a", "b"], ["a", "b", "c"], [None]):
            choice, _ = _chosen(voter, keys, 3)
            assert 0 <= choice.agreement <= 1, f"Choice.agreement is from 0 to 1, not {choice.agreement}"

    def test_failure_of_the_model_is_raised(self, voter: Voter) -> None:
        async def draw(first: int, count: int) -> Sequence[Vote]:
            raise ConnectionError("the model is away")

        try:
            _put(voter, Ballot("decide", 3, draw))
        except ConnectionError:
            return
        pytest.fail("an error of draw is the model's: a voter must not swallow it")


def _chosen(
    voter: Voter,
    keys: Sequence[str | None],
    size: int,
    *,
    tie: str | None = None,
    at_once: bool = True,
    redraw: bool = True,
) -> tuple[Choice, Box]:
    box = Box(keys)
    return _put(voter, Ballot("decide", size, box.draw, tie, at_once, redraw)), box


def _put(voter: Voter, ballot: Ballot) -> Choice:
    async def work(run: Run) -> Choice:
        return await voter.choose(run, ballot)

    choice = try_in_run(work, Setting(voter=voter)).result
    assert isinstance(choice, Choice), "choose gives a kgot_core.contracts.voter.Choice"
    return choice
