"""Solvers, strategies and voters with one fault each, and the test of their suite that is meant for it."""

from __future__ import annotations

import asyncio
import itertools
import runpy
import sys
from dataclasses import replace
from pathlib import Path

from kgot_core.contracts.task import Outcome
from kgot_core.contracts.voter import Choice
from kgot_core.solvers.query import QuerySolver
from kgot_core.strategies.kgot_loop import KGoTLoop
from kgot_core.testing.solver_suite import SolverSuite
from kgot_core.testing.strategy_suite import StrategySuite
from kgot_core.testing.voter_suite import VoterSuite
from kgot_core.voters.majority import MajorityVoter

# Solvers


class NoForm(QuerySolver):
    meant = "test_describes_itself"
    calls = 0

    @property
    def form(self):
        """Right when the suite looks a second time."""
        NoForm.calls += 1
        return "both" if sys._getframe(1).f_code.co_name == "test_describes_itself" else "query"


class LeastSupportedFirst(QuerySolver):
    meant = "test_proposals_become_candidates"

    async def solve(self, run, proposals):
        return await super().solve(run, proposals[::-1])


class NoEvidence(QuerySolver):
    meant = "test_candidates_name_elements_of_the_graph"

    async def solve(self, run, proposals):
        return [replace(candidate, elements=()) for candidate in await super().solve(run, proposals)]


class NeverAsks(QuerySolver):
    meant = "test_asks_where_the_limit_forces_it"

    async def solve(self, run, proposals):
        return await super().solve(run, proposals) if proposals else ()


class RaisesWhereNothingIs(QuerySolver):
    meant = "test_nothing_found_is_no_candidate[useless proposal] test_nothing_found_is_no_candidate[no proposal]"

    async def solve(self, run, proposals):
        return [(await super().solve(run, proposals))[0]]


class WritesWhatItFound(QuerySolver):
    meant = "test_graph_stays_as_it_is"

    async def solve(self, run, proposals):
        if len(proposals) == 2:
            await run.graph.write("note", "(Lake: Corrie Water) seen = true", ("model",))
        return await super().solve(run, proposals)


class AsksWithTheTime(QuerySolver):
    meant = "test_equal_runs_ask_the_same"
    numbers = itertools.count()

    async def solve(self, run, proposals):
        if not proposals:
            await run.ask("time", "retrieve", f"it is {next(self.numbers)} o'clock")
        return await super().solve(run, proposals)


# Strategies


class Wishes(KGoTLoop):
    meant = "test_answers"

    async def run(self, run):
        outcome = await super().run(run)
        return replace(outcome, text="forty two") if outcome.status == "answered" else outcome


class Restless(KGoTLoop):
    meant = "test_ends_with_a_model_that_does_not_help"

    async def run(self, run):
        for number in range(60):
            outcome = await super().run(run.at(number))
            if "61" in outcome.text:
                break
        return outcome


class HidesFailures(KGoTLoop):
    meant = "test_failure_of_the_model_ends_the_run_with_its_cause"

    async def run(self, run):
        try:
            return await super().run(run)
        except Exception:
            return Outcome("nothing", "no_solution")


class AsksAtRandom(KGoTLoop):
    meant = "test_equal_runs_ask_the_same"
    numbers = itertools.count()

    async def run(self, run):
        await run.ask("random", "decide", f"number {next(self.numbers)}")
        return await super().run(run)


class NeverStops(KGoTLoop):
    meant = "test_can_be_cancelled"

    async def run(self, run):
        try:
            return await super().run(run)
        except asyncio.CancelledError:
            asyncio.current_task().uncancel()
            return Outcome("never mind", "answered")


# Voters


class TakesTheFirst(MajorityVoter):
    meant = "test_tells_what_it_drew"

    async def choose(self, run, ballot):
        choice = await super().choose(run, ballot)
        return replace(choice, votes=choice.votes[:1]) if len(choice.counts) > 1 and ballot.tie is None else choice


class ForTheOther(MajorityVoter):
    meant = " ".join(
        f"test_what_all_are_for_wins[{size}-{way}]" for size in (1, 2, 5) for way in ("at once", "one by one")
    )

    async def choose(self, run, ballot):
        choice = await super().choose(run, ballot)
        return replace(choice, key="SOLVE") if choice.key == "ENHANCE" else choice


class CountsFromZero(MajorityVoter):
    """Draws what follows with the numbers of what it has."""

    meant = "test_samples_are_numbered_without_gaps"

    async def choose(self, run, ballot):
        async def draw(first, count):
            return await ballot.draw(first + (10 if first > 1 and not ballot.at_once else 0), count)

        return await super().choose(run, replace(ballot, draw=draw))


class AlwaysChooses(MajorityVoter):
    meant = "test_unreadable_samples_choose_nothing"

    async def choose(self, run, ballot):
        choice = await super().choose(run, ballot)
        return replace(choice, key=choice.key or "ENHANCE")


class IgnoresTies(MajorityVoter):
    meant = "test_tie_goes_to_the_ballot_s_key test_order_of_a_tie_does_not_matter"

    async def choose(self, run, ballot):
        return await super().choose(run, replace(ballot, tie=None))


class LastOfEquals(MajorityVoter):
    """Draws all, and lets a tie go to the last sample."""

    meant = "test_order_of_a_tie_does_not_matter"

    async def choose(self, run, ballot):
        choice = await super().choose(run, replace(ballot, at_once=True))
        tied = len(set(choice.counts.values())) == 1 and ballot.size == 4
        return replace(choice, key=choice.votes[-1].key) if tied else choice


class DrawsAgain(MajorityVoter):
    meant = "test_samples_that_must_not_be_drawn_again_are_not"

    async def choose(self, run, ballot):
        return await super().choose(run, replace(ballot, redraw=True))


class AgreesTooMuch(MajorityVoter):
    meant = "test_agreement_is_a_share"

    async def choose(self, run, ballot):
        return replace(await super().choose(run, ballot), measured=2.0)


class HidesTheModel(MajorityVoter):
    meant = "test_failure_of_the_model_is_raised"

    async def choose(self, run, ballot):
        try:
            return await super().choose(run, ballot)
        except ConnectionError:
            return Choice(None)


_suites = runpy.run_path(str(Path(__file__).with_name("suites.py")))
FAULTS = _suites["of_classes"](
    globals(),
    {
        "solver": (SolverSuite, QuerySolver),
        "strategy": (StrategySuite, KGoTLoop),
        "voter": (VoterSuite, MajorityVoter),
    },
)
