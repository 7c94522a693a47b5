"""The queue in every order of events: each task ends once, whoever is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgot_ray.tasks import Given, TaskQueue


def test_the_first_are_given_first_and_what_was_lost_before_all():
    queue = TaskQueue(["a", "b", "c", "d"])
    assert [queue.take(0), queue.take(1), queue.take(0)] == [Given("a"), Given("b"), Given("c")]
    queue.give_back(0)
    assert queue.held == ["b"]
    assert [queue.take(1), queue.take(1), queue.take(1)] == [Given("a", 0), Given("c", 0), Given("d")]
    assert queue.take(1) is None and not queue.over


def test_what_a_lost_rank_says_of_a_task_does_not_count():
    queue = TaskQueue(["a"])
    queue.take(0)
    queue.give_back(0)
    queue.end(0, "a")
    assert not queue.over
    queue.take(1)
    queue.end(0, "a")
    assert queue.held == ["a"]
    queue.end(1, "a")
    assert queue.over


@given(
    st.integers(0, 12),
    st.lists(st.tuples(st.sampled_from(["take", "end", "lose"]), st.integers(0, 3), st.integers(0, 9)), max_size=80),
)
def test_each_task_is_held_by_one_rank_at_most_and_ends_once(count, events):
    names = [f"t{number}" for number in range(count)]
    queue = TaskQueue(names)
    held: dict[str, int] = {}
    ended: list[str] = []

    def take(rank: int) -> bool:
        given_out = queue.take(rank)
        if given_out is not None:
            assert given_out.task not in held and given_out.task not in ended
            held[given_out.task] = rank
        return given_out is not None

    def end(task: str) -> None:
        queue.end(held.pop(task), task)
        ended.append(task)

    for what, rank, choice in events:
        own = [task for task, holder in held.items() if holder == rank]
        if what == "take":
            take(rank)
        elif what == "end" and own:
            end(own[choice % len(own)])
        elif what == "lose":
            queue.give_back(rank)
            held = {task: holder for task, holder in held.items() if holder != rank}
        assert queue.over == (len(ended) == count)
        assert sorted(queue.held) == sorted(held)
    # One that is left does all the rest.
    while take(0):
        pass
    for task in list(held):
        end(task)
    assert queue.over and sorted(ended) == sorted(names)
