"""``kgot batch`` over two ranks of a real Ray on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter

import pytest

pytestmark = pytest.mark.xdist_group("ray")


def test_two_ranks_share_the_tasks_and_each_is_asked_once(command, desk, helpers):
    process = command.batch("--json")
    both = [desk.next(), desk.next()]
    assert len({call.said["pid"] for call in both} - {process.pid}) == 2
    for call in both:
        call.answer()
    desk.answer_all()
    code, out, errors = helpers.end(process)
    assert code == 0, errors
    assert json.loads(out)["statuses"] == {"answered": 8}
    assert command.answered() == helpers.ALL_TASKS
    asked = Counter((said["task"], said["stage"]) for said in desk.asked)
    stages = {stage for _, stage in asked}
    assert all(asked[f"town{number}", stage] == asked["town0", stage] for number in range(8) for stage in stages)
    assert {note["rank"] for note in command.notes("started")} == {0, 1}
    assert errors.count("8 answered; results in") == 1


@pytest.mark.parametrize("restarts", [0, 1])
def test_the_tasks_of_a_killed_rank_are_gone_on_with(command, desk, helpers, restarts):
    process = command.batch("--set", f"schedulers.ray.restarts={restarts}")
    # One request each is answered, so that something is paid for already.
    second = desk.after_one_answer_each()
    lost = next(call for call in second if call.said["task"] == "town1")
    os.kill(lost.said["pid"], signal.SIGKILL)
    for call in second:
        call.answer()
    desk.answer_all()
    code, _, errors = helpers.end(process)
    assert code == 0, errors
    assert command.answered() == helpers.ALL_TASKS
    assert ("was lost" in errors) == (not restarts)
    assert [note["task"] for note in command.notes("took_over")] == ["t1"]
    # Of what was answered before the kill nothing is asked again.
    asked = Counter((said["task"], said["stage"]) for said in desk.asked)
    stage = desk.asked[0]["stage"]
    assert asked["town1", stage] == asked["town7", stage]


def test_interrupted_it_says_how_to_go_on_and_goes_on(command, desk, helpers):
    process = command.batch()
    calls = [desk.next(), desk.next()]
    process.send_signal(signal.SIGTERM)
    assert any("interrupted" in line for line in iter(process.stderr.readline, ""))
    for call in calls:
        call.answer()
    desk.answer_all()
    code, _, errors = helpers.end(process)
    assert code == 75, errors
    assert f"kgot resume {command.folder / 'out'}" in errors
    code, _, errors = helpers.end(command.start("resume", "out"))
    assert code == 0, errors
    assert command.answered() == helpers.ALL_TASKS


def test_a_bad_task_file_is_told_once(command, helpers):
    (command.folder / "tasks.jsonl").write_text('{"id": "a", "question": ""}\n')
    code, _, errors = helpers.end(command.batch())
    assert code == 2
    assert errors.count("question") == 1 and errors.count("nothing has been started") == 1


def test_no_ray_at_the_address_is_told_in_a_line(command, helpers):
    code, _, errors = helpers.end(command.batch("--set", "schedulers.ray.address=127.0.0.1:1"))
    assert code == 2, errors
    assert "there is no Ray at 127.0.0.1:1" in errors and "ray start --head" in errors
