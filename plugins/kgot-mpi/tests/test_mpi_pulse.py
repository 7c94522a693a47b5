"""When a batch counts as stuck, and what is said of it."""

from __future__ import annotations

from kgot_mpi.pulse import Pulse, Report


def test_a_batch_that_goes_on_is_not_stuck():
    pulse = Pulse(range(2), 10, 0)
    for now in range(1, 50):
        pulse.report(Report(0, now, ("a",)), now)
        pulse.report(Report(1, 0, ("b",)), now)
        assert pulse.diagnosis(now) == ""


def test_ranks_and_tasks_of_a_stuck_batch_are_named():
    pulse = Pulse(range(3), 10, 0)
    pulse.report(Report(0, 2, ("moss", "fern")), 1)
    for now in range(2, 13):
        pulse.report(Report(0, 2, ("moss", "fern")), now)
        pulse.report(Report(2, 0, ()), now)
    assert pulse.diagnosis(10) == ""
    assert pulse.diagnosis(12) == (
        "no task has started or ended for 11 s: rank 1 was not heard of for 12 s, rank 0 runs moss, fern"
    )


def test_a_long_list_is_cut():
    pulse = Pulse(range(1), 1, 0)
    pulse.report(Report(0, 0, tuple(f"t{number}" for number in range(9))), 0)
    assert pulse.diagnosis(2).endswith("rank 0 runs t0, t1, t2, t3, t4 and 4 more tasks")


def test_a_change_of_any_rank_counts():
    pulse = Pulse(range(2), 5, 0)
    pulse.report(Report(1, 1, ()), 4)
    assert pulse.diagnosis(8) == ""
    assert pulse.diagnosis(9.5) != ""
