"""The conformance suite of solvers. A third party subclasses :class:`SolverSuite` and names its provider.

Example:
    class TestMySolver(SolverSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal, Solver
from kgot_core.providers import SolverProvider
from kgot_core.testing.runs import Ended, Setting, try_in_run
from kgot_core.testing.suite import Suite, check_provider, ready

_PROPOSALS = {
    "query": (
        Proposal("FIND ?metres\n(Lake: Corrie Water) depth = ?metres", 3),
        Proposal("FIND ?stream\n(River: ?stream)", 1),
    ),
    "direct": (Proposal("61 metres", 3, ("Corrie Water",)), Proposal("Sike Burn", 1, ("Sike Burn",))),
}
_REPLIES = {
    "query": "```facts\nFIND ?metres\n(Lake: Corrie Water) depth = ?metres\n```",
    "direct": "```\n61 metres\n```\nBASIS: Corrie Water",
}
_USELESS = {"query": Proposal("FIND ?x\n(Ship: ?x)"), "direct": Proposal("  ")}
_MOST_REQUESTS = 40


class SolverSuite(Suite):
    """What every solver does, on a small graph in memory. The graph holds one depth, 61.

    Attributes:
        provider: The provider under test; or give the fixture ``solver``.
        settings: Its settings; the defaults where ``None``.
        reply: What the model answers when the solver asks for a way to the depth; the core's own form otherwise.
        missing: What the model answers where the graph does not hold what is asked for.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings", "solver", "reply", "missing"})
    provider: ClassVar[SolverProvider | None] = None
    settings: ClassVar[Any] = None
    reply: ClassVar[str] = ""
    missing: ClassVar[str] = "MISSING"

    @pytest.fixture
    def solver(self) -> Solver:
        """Gives the solver under test."""
        if self.provider is None:
            raise NotImplementedError("set provider, or give a fixture 'solver' that returns the solver under test")
        return self.provider.open(ready(self.provider, self.settings))

    def test_describes_itself(self, solver: Solver) -> None:
        assert isinstance(solver, Solver), "open gives a kgot_core.contracts.solver.Solver"
        assert solver.form in ("query", "direct"), "form is 'query' or 'direct': what a vote has to carry"
        if self.provider is not None:
            check_provider(self.provider)

    def test_proposals_become_candidates(self, solver: Solver) -> None:
        ended = _solved(solver, _PROPOSALS[solver.form])
        first = next(iter(ended.result), None)
        assert isinstance(first, Candidate), "solve gives candidates for a proposal that holds the answer"
        assert "61" in first.text, f"the most supported proposal comes first, and gives 61: {first}"
        assert first.how, "Candidate.how tells how the answer came about"

    def test_candidates_name_elements_of_the_graph(self, solver: Solver) -> None:
        ended = _solved(solver, _PROPOSALS[solver.form][:1])
        known = {element["id"] for record in ended.records for element in _elements(record)}
        for candidate in ended.result:
            assert candidate.elements, "a candidate names the elements that it rests on"
            assert set(candidate.elements) <= known, f"these are no elements of the graph: {candidate.elements}"

    def test_asks_where_the_limit_forces_it(self, solver: Solver) -> None:
        ended = _solved(solver, (), self.reply or _REPLIES[solver.form])
        assert ended.result, "without proposals (the limit was reached) a solver has to ask the model itself"
        assert "61" in ended.result[0].text, f"the model's reply leads to 61, not to {ended.result[0].text!r}"

    @pytest.mark.parametrize("useless", [True, False], ids=["useless proposal", "no proposal"])
    def test_nothing_found_is_no_candidate(self, solver: Solver, useless: bool) -> None:
        try:
            ended = _solved(solver, [_USELESS[solver.form]] if useless else [], self.missing)
        except Exception as error:
            pytest.fail(f"where the graph gives nothing, solve returns nothing, it does not raise: {error!r}")
        assert not ended.result, f"where nothing was found there is no candidate, not: {ended.result}"
        assert len(ended.requests) <= _MOST_REQUESTS, f"{len(ended.requests)} requests for one solve: bound the tries"

    def test_graph_stays_as_it_is(self, solver: Solver) -> None:
        ended = _solved(solver, _PROPOSALS[solver.form])
        written = [record for record in ended.records if record["kind"] == "graph_written"]
        assert not written, "a solver only reads the graph: writing belongs to the rounds before"

    def test_equal_runs_ask_the_same(self, solver: Solver) -> None:
        first, second = (_solved(solver, (), self.reply or _REPLIES[solver.form]) for _ in range(2))
        assert list(first.requests) == list(second.requests), "a run that is repeated must ask the same, text for text"
        assert list(first.result) == list(second.result), "a run that is repeated must find the same"


def _solved(solver: Solver, proposals: Sequence[Proposal], reply: str = "MISSING") -> Ended[Sequence[Candidate]]:
    async def work(run: Run) -> Sequence[Candidate]:
        return await solver.solve(run, proposals)

    return try_in_run(work, Setting(lambda asked: reply, solver=solver))


def _elements(record: Any) -> list[Any]:
    snapshot = record.get("snapshot", {}) if record["kind"] == "graph_opened" else {}
    return [*snapshot.get("nodes", ()), *snapshot.get("edges", ())]
