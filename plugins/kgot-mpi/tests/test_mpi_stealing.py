"""The stealing itself, over thousands of schedules in simulated time."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_mpi.deal import Deal, longest_first
from kgot_mpi.recovery import redealt
from kgot_mpi.simulation import Played, Simulation

# Thousands of schedules in all in continuous integration, hundreds elsewhere.
MANY = settings().max_examples
SEEDS = st.integers(0, 2**32)


def drawn(seed: int, tasks: int) -> tuple[list[int], list[float]]:
    """Draws heavy-tailed durations, and an order by estimates of them that are off."""
    rng = random.Random(seed)
    durations = [rng.lognormvariate(0, 1.2) for _ in range(tasks)]
    guessed = [seconds * rng.lognormvariate(0, 0.3) for seconds in durations]
    return sorted(range(tasks), key=lambda task: -guessed[task]), durations


@given(st.integers(0, 200), st.integers(1, 40), st.lists(st.integers(0, 3), max_size=40))
def test_every_task_is_dealt_once_and_awaited_once(tasks: int, ranks: int, running: list[int]) -> None:
    deal = Deal(range(tasks), ranks, running[:ranks])
    dealt = [deal.task(rank, place) for rank in range(ranks) for place in range(deal.size(rank))]
    assert sorted(dealt) == list(range(tasks))
    assert max(map(deal.size, range(ranks))) - min(map(deal.size, range(ranks))) <= 1
    # What is awaited are the tasks, and one for each rank below which anything is.
    handed_up = sum(1 for rank in range(1, ranks) if deal.awaited(rank))
    assert sum(map(deal.awaited, range(ranks))) == deal.tasks + handed_up
    assert sorted(child for rank in range(ranks) for child in deal.children(rank)) == list(range(1, ranks))
    assert all(rank in deal.children(deal.parent(rank)) for rank in range(1, ranks))


@given(st.dictionaries(st.text(min_size=1), st.floats(0, 1e6) | st.none(), max_size=30))
def test_the_longest_comes_first_and_the_unknown_as_an_average_one(expected: dict[str, float | None]) -> None:
    ids = list(expected)
    known = {name: seconds for name, seconds in expected.items() if seconds is not None}
    usual = sum(known.values()) / len(known) if known else 0.0
    ordered = longest_first(ids, known)
    assert sorted(ordered) == list(range(len(ids)))
    seconds = [known.get(ids[index], usual) for index in ordered]
    assert seconds == sorted(seconds, reverse=True)


def complete(played: Played, tasks: int) -> None:
    assert played.over
    assert played.ended == set(range(tasks))


@settings(max_examples=15 * MANY)
@given(st.integers(0, 60), st.integers(1, 24), st.integers(1, 4), st.sampled_from([0.0, 0.001, 0.3, 20.0]), SEEDS)
def test_each_task_is_claimed_once_in_any_schedule(
    tasks: int, ranks: int, jobs: int, latency: float, seed: int
) -> None:
    order, durations = drawn(seed, tasks)
    played = Simulation(order, durations, ranks, jobs=jobs, latency=latency, seed=seed).play()
    complete(played, tasks)
    assert all(len(started) == 1 for started in played.started.values())
    assert sorted(played.started) == list(range(tasks))


@settings(max_examples=5 * MANY)
@given(st.integers(1, 60), st.integers(1, 24), st.integers(1, 4), SEEDS)
def test_no_rank_is_idle_while_a_task_waits(tasks: int, ranks: int, jobs: int, seed: int) -> None:
    order, durations = drawn(seed, tasks)
    played = Simulation(order, durations, ranks, jobs=jobs, seed=seed).play()
    workers = ranks * jobs
    # The bound of every schedule in which no worker waits while a task does (Graham).
    bound = sum(durations) / workers + max(durations) * (1 - 1 / workers)
    assert played.makespan <= bound * (1 + 1e-9)


@settings(max_examples=10 * MANY)
@given(
    st.integers(0, 40),
    st.integers(2, 12),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.01, 1.0]),
    st.dictionaries(st.integers(0, 11), st.floats(0, 12), max_size=11),
    SEEDS,
)
def test_those_that_are_left_finish_what_lost_ranks_began(
    tasks: int, ranks: int, jobs: int, latency: float, deaths: dict[int, float], seed: int
) -> None:
    order, durations = drawn(seed, tasks)
    deaths = {rank: when for rank, when in deaths.items() if rank < ranks}
    game = Simulation(order, durations, ranks, jobs=jobs, latency=latency, deaths=deaths, seed=seed)
    played = game.play()
    complete(played, tasks)
    for task, started in played.started.items():
        alive = [rank for rank in started if rank in game.left]
        assert len(alive) == 1, f"task {task} was run by {started}, of which {sorted(game.left)} are left"


@given(st.integers(0, 50), st.integers(1, 8), SEEDS)
def test_what_is_done_or_in_hand_is_not_dealt_anew(tasks: int, ranks: int, seed: int) -> None:
    rng = random.Random(seed)
    order = rng.sample(range(tasks), tasks)
    ended: list[set[int]] = [set() for _ in range(ranks)]
    running: list[set[int]] = [set() for _ in range(ranks)]
    for task in rng.sample(order, tasks // 2):
        rng.choice(ended + running).add(task)
    deal = redealt(order, ended, running)
    dealt = [deal.task(rank, place) for rank in range(ranks) for place in range(deal.size(rank))]
    assert set(dealt) == set(order) - set().union(*ended, *running)
    assert deal.tasks == len(dealt) + sum(map(len, running))


def test_many_ranks_steal_with_few_messages() -> None:
    ranks, tasks = 200, 4_000
    order, durations = drawn(7, tasks)
    played = Simulation(order, durations, ranks, latency=0.001).play()
    complete(played, tasks)
    assert played.makespan < 1.02 * max(sum(durations) / ranks, max(durations))
    # Each rank looks at each queue a few times at most, and each end is counted once, up the tree too.
    assert played.messages < 2 * tasks + 4 * ranks * ranks
