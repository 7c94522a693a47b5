"""What the runs of a batch may spend together, by one process and by several."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.options import Caps
from kgot_core.contracts.task import Usage
from kgot_core.errors import CapReached
from kgot_core.run.caps import Budget
from kgot_core.run.purse import Purse


def tokens(number: int) -> Usage:
    return Usage(requests=1, input_tokens=number, cost=number / 1000)


def test_runs_are_summed_while_they_run_and_after() -> None:
    purse = Purse(Caps(max_tokens=1000, reserve=0.1))
    used = {"a": tokens(0), "b": tokens(300)}
    with purse.run("a", lambda: used["a"]):
        with purse.run("b", lambda: used["b"]):
            assert purse.reached() == ""
        used["a"] = tokens(590)
        assert purse.reached(10) == ""
        assert purse.reached(11) == "batch.max_tokens = 1,000: 890 are used"
        assert purse.reached(100, share=1.0) == "", "the reserve is for a run's last answer"
    assert purse.added.input_tokens == 890


def test_runs_in_memory_share_a_key() -> None:
    purse = Purse(Caps(max_tokens=1000))
    with purse.run(None, lambda: tokens(100)):
        with purse.run(None, lambda: tokens(20)):
            assert purse.added.input_tokens == 120
        assert purse.added.input_tokens == 120
    assert purse.added.input_tokens == 120


def test_what_a_run_had_used_before_it_went_on_counts_once() -> None:
    purse = Purse(Caps(max_cost=1.0, reserve=0.0))
    purse.begin({"a": tokens(600), "b": tokens(300)}, 1)
    with purse.run("a", lambda: tokens(200)):
        assert purse.added.cost == 0, "the run is still being read back"
    with purse.run("a", lambda: tokens(650)):
        assert purse.added.cost == pytest.approx(0.05)
        assert purse.reached() == ""
    with purse.run("c", lambda: tokens(60)):
        assert purse.reached().startswith("batch.max_cost = $1: $1.01")


def test_what_a_lost_process_had_ended_counts_once_for_the_one_in_its_place() -> None:
    purse = Purse(Caps(max_tokens=1000, reserve=0.0))
    # One run had used 100 before all, the other is new; both had ended, the first without using more.
    purse.begin({"a": tokens(100)}, 2, {"a": tokens(100), "b": tokens(400)})
    assert purse.added.input_tokens == 400
    assert purse.reached(250) == "", "each of two may spend half of the 500 that are left"
    assert purse.reached(251).startswith("batch.max_tokens")
    purse.hear(tokens(300))
    assert purse.reached(100) == "" and purse.reached(101) != ""
    with purse.run("c", lambda: tokens(50)):
        assert purse.added.input_tokens == 450


async def test_a_request_of_a_run_is_refused_where_the_purse_is_empty() -> None:
    purse = Purse(Caps(max_tokens=100, reserve=0.0))
    budget = Budget(Caps(), Usage, purse=purse)
    with ExitStack() as stack:
        stack.enter_context(purse.run("a", lambda: tokens(50)))
        async with budget.request(30):
            with pytest.raises(CapReached, match=r"batch\.max_tokens"):
                async with Budget(Caps(), Usage, purse=purse).request(30):
                    pass
        async with budget.request(30):
            pass


@given(st.integers(1, 8), st.lists(st.tuples(st.integers(0, 7), st.integers(1, 60), st.booleans()), max_size=200))
def test_several_processes_keep_the_cap_when_they_hear_of_each_other(
    ranks: int, spends: list[tuple[int, int, bool]]
) -> None:
    """Each hears of all others now and then at the same moment; between those it knows its own spending only."""
    cap = 1000
    spent = [0] * ranks
    purses = [Purse(Caps(max_tokens=cap, reserve=0.0)) for _ in range(ranks)]
    with ExitStack() as stack:
        for rank, purse in enumerate(purses):
            purse.begin({}, ranks)
            stack.enter_context(purse.run("run", lambda rank=rank: tokens(spent[rank])))  # type: ignore[misc]
        for number, amount, hear in spends:
            if hear:
                for rank, purse in enumerate(purses):
                    purse.hear(tokens(sum(spent) - spent[rank]))
            if not purses[number % ranks].reached(amount):
                spent[number % ranks] += amount
    assert sum(spent) <= cap
