"""The desk, with a clock that a test sets."""

from __future__ import annotations

from kgot_ray.desk import SILENCE, Desk


async def test_a_silent_rank_is_given_up_and_its_task_given_to_another():
    now = [0.0]
    desk = Desk(lambda: now[0])
    first, second = await desk.join(0), await desk.join(1)
    for caller in (first, second):
        await desk.begin(caller, 0, ["a", "b", "c"])
    assert (await desk.take(first, 0, 0.0)).task == "a"
    assert (await desk.take(second, 0, 0.0)).task == "b"
    now[0] = SILENCE - 1
    await desk.end(second, 0, "b")
    assert (await desk.take(second, 0, 0.0)).task == "c"
    now[0] = SILENCE
    reply = await desk.take(second, 0, 0.0)
    assert (reply.task, reply.lost_by) == ("a", 0)
    # It lives after all: it is told, and what it says of the task does not count.
    assert (await desk.look(first, 0, 0.0)).state == "gone"
    await desk.end(first, 0, "a")
    await desk.end(second, 0, "c")
    assert (await desk.look(second, 0, 0.0)).state == "go"
    await desk.end(second, 0, "a")
    assert (await desk.look(second, 0, 0.0)).state == "over"


async def test_it_is_known_how_long_no_rank_was_heard_of():
    now = [0.0]
    desk = Desk(lambda: now[0])
    now[0] = 5.0
    assert await desk.quiet() == 5.0
    caller = await desk.join(0)
    await desk.begin(caller, 0, ["a"])
    assert await desk.quiet() == 0.0
    now[0] = 7.0
    assert await desk.quiet() == 2.0
    await desk.look(caller, 0, 0.0)
    assert await desk.quiet() == 0.0
