"""A run that goes on: what is answered from its record, and what is told."""

from __future__ import annotations

import asyncio
import json
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.contracts.sink import Sink
from kgot_core.errors import UsageError
from kgot_core.run.record.folder import read_records
from kgot_core.session.library import load_settings
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_breaking = runpy.run_path(str(FIXTURES / "breaking.py"))
_story = _breaking["_story"]
cut_off, course, begin, go_on = (_breaking[name] for name in ("cut_off", "course", "begin", "go_on"))
place_of, whole, broken = _breaking["place_of"], _breaking["whole"], _breaking["broken"]
quick, opened, heights = _story["quick"], _story["opened"], _story["heights"]
QUESTION, ANSWER = _story["QUESTION"], _story["ANSWER"]


class Collecting(Sink):
    def __init__(self) -> None:
        self.earlier: list[Any] = []
        self.emitted: list[Any] = []

    def resumed(self, records: Any) -> None:
        self.earlier += records

    def emit(self, record: Any) -> None:
        self.emitted.append(record)


async def test_sinks_learn_what_was_before_and_are_told_what_comes(broken: Path, whole: Path) -> None:
    before = list(read_records(broken))
    sink = Collecting()
    await go_on(broken, sinks=[sink])
    assert sink.earlier == before
    assert [record["kind"] for record in sink.emitted][:2] == ["run_resumed", "graph_written"]
    assert [*before, *sink.emitted] == list(read_records(broken))
    assert [record["seq"] for record in read_records(broken)] == list(range(1, len(before) + len(sink.emitted) + 1))


async def test_an_object_with_emit_alone_is_a_sink_of_a_resumed_run_too(broken: Path) -> None:
    class Plain:
        kinds: list[str] = []  # noqa: RUF012 - one object

        def emit(self, record: Any) -> None:
            self.kinds.append(record["kind"])

    answer = await go_on(broken, sinks=[Plain()])
    assert answer.status == "answered" and Plain.kinds[-1] == "run_finished" and "notice" not in Plain.kinds


async def test_a_resumed_run_is_repeated_from_its_record(broken: Path) -> None:
    await go_on(broken)
    registry, _ = load_settings({}, broken, [])
    sink = MemorySink()
    answer = await replay_run(registry, broken, env={}, sinks=[sink])
    assert course(sink.records) == course(list(read_records(broken)))
    assert answer.usage.requests == json.loads((broken / "answer.json").read_text())["usage"]["requests"]


async def test_a_line_without_its_end_is_kept_whole(whole: Path, tmp_path: Path) -> None:
    place = place_of(whole, "model_called", stage="extract") + 1
    left = cut_off(whole, tmp_path / "run", place, torn=0)
    events = tmp_path / "run" / "events.jsonl"
    events.write_bytes(events.read_bytes().rstrip(b"\n"))
    story = quick()
    await go_on(tmp_path / "run", story)
    assert "extract" not in story.asked and len(list(read_records(tmp_path / "run"))) > len(left)


async def test_a_cancelled_run_goes_on_and_its_end_no_longer_counts(tmp_path: Path, whole: Path) -> None:
    reached = asyncio.Event()

    async def stuck(prompt: str) -> str:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with opened(quick(extract=stuck)) as session:
        running = asyncio.create_task(session.solve(QUESTION, folder=tmp_path / "run"))
        await asyncio.wait_for(reached.wait(), 30)
        running.cancel()
        await asyncio.wait({running})
    assert json.loads((tmp_path / "run" / "answer.json").read_text())["status"] == "cancelled"
    story = quick()
    answer = await go_on(tmp_path / "run", story)
    assert (answer.text, story.asked) == (ANSWER, ["extract", "decide", "compute", "parse"])
    assert course(list(read_records(tmp_path / "run"))) == course(list(read_records(whole)))


async def test_a_failed_run_asks_again_what_failed_and_counts_all_that_was_paid(tmp_path: Path) -> None:
    settings = {"loop.max_llm_attempts": 1}
    failed = await begin(tmp_path / "run", quick(compute=ValueError("out of order")), settings)
    assert failed.status == "failed"
    story = quick()
    answer = await go_on(tmp_path / "run", story, settings)
    assert (answer.text, story.asked) == (ANSWER, ["compute", "parse"])
    assert answer.usage.requests == failed.usage.requests + 2
    registry, _ = load_settings({}, tmp_path, [])
    assert (await replay_run(registry, tmp_path / "run", env={})).usage == answer.usage


async def test_a_run_is_broken_off_and_goes_on_several_times(whole: Path, tmp_path: Path) -> None:
    last = cut_off(whole, tmp_path / "run-0", 4)
    for number in range(1, 5):
        again = quick()
        await go_on(tmp_path / f"run-{number - 1}", again)
        last = cut_off(tmp_path / f"run-{number - 1}", tmp_path / f"run-{number}", 4 + 4 * number)
    await go_on(tmp_path / "run-4")
    assert sum(record["kind"] == "run_resumed" for record in last) == 4
    assert course(list(read_records(tmp_path / "run-4"))) == course(list(read_records(whole)))


async def test_a_finished_run_gives_its_answer_once_more(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    events = (tmp_path / "run" / "events.jsonl").read_bytes()
    (tmp_path / "run" / "answer.json").unlink()
    story = quick()
    answer = await go_on(tmp_path / "run", story)
    assert (answer.text, answer.status, story.asked) == (ANSWER, "answered", [])
    assert (tmp_path / "run" / "events.jsonl").read_bytes() == events
    assert (tmp_path / "run" / "answer.json").read_bytes() == (whole / "answer.json").read_bytes()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["answer.json", "blobs.txt", "events.jsonl"]


async def test_a_run_that_goes_on_elsewhere_is_refused(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def stuck(prompt: str) -> str:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with opened(quick(extract=stuck)) as session:
        running = asyncio.create_task(session.solve(QUESTION, folder=tmp_path / "run"))
        await asyncio.wait_for(reached.wait(), 30)
        with pytest.raises(UsageError, match=r"is still running \(process \d+ on"):
            await go_on(tmp_path / "run")
        running.cancel()
        await asyncio.wait({running})


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda data: b"", "has no beginning"),
        (lambda data: b"{broken\n" + data, "is damaged at line 1"),
        (lambda data: data.replace(b'"schema":1', b'"schema":99', 1), "was written by a newer version"),
        (None, "there is no run in"),
    ],
)
async def test_a_record_that_cannot_be_understood_is_refused_and_left_alone(
    broken: Path, damage: Any, line: str
) -> None:
    events = broken / "events.jsonl"
    if damage is None:
        events.unlink()
    else:
        events.write_bytes(damage(events.read_bytes()))
    before = held(broken)
    with pytest.raises(UsageError, match=line):
        await go_on(broken)
    assert held(broken) == before


async def test_what_was_found_out_about_a_model_is_known_again(tmp_path: Path) -> None:
    story = quick()
    await begin(tmp_path / "whole", story, models={"graph": story.model(several=False)})
    place = place_of(tmp_path / "whole", "outside_called", step="2/decide/at-once")
    cut_off(tmp_path / "whole", tmp_path / "run", place)
    again = quick()
    await go_on(tmp_path / "run", again, models={"graph": again.model(several=False)})
    records = list(read_records(tmp_path / "run"))
    assert next(item for item in records if item["step"] == "2/decide/at-once")["value"] is False
    assert course(records) == course(list(read_records(tmp_path / "whole")))
    assert (tmp_path / "run" / "answer.json").read_bytes() == (tmp_path / "whole" / "answer.json").read_bytes()


def test_from_a_script(broken: Path) -> None:
    story = quick()
    given = {"models": {"graph": story.model()}, "tools": [heights], "env": _story["NO_CONFIG"]}
    with pytest.raises(UsageError, match=r"this has changed: the setting votes\.temperature"):
        kgot_core.resume(broken, settings={"votes.temperature": 0.1}, **given)
    answer = kgot_core.resume(broken, **given)
    assert (answer.text, answer.folder) == (ANSWER, broken)
    assert kgot_core.resume(broken, **given).text == ANSWER and story.asked == ["decide", "compute", "parse"]


async def test_the_time_before_a_break_counts_for_the_deadline(whole: Path, tmp_path: Path) -> None:
    place = place_of(whole, "model_called", stage="extract")
    for name in ("early", "late"):
        cut_off(whole, tmp_path / name, place, torn=0)
    events = tmp_path / "late" / "events.jsonl"
    *lines, last = events.read_text().splitlines()
    # The last call took so long that nothing is left of the deadline.
    took = next(line for line in reversed([*lines, last]) if '"kind":"tool_called"' in line)
    events.write_text(
        "\n".join([*lines, last, ""]).replace(took, re.sub(r'"seconds":[0-9.]+', '"seconds":5000.0', took))
    )
    early, late = quick(), quick()
    assert (await go_on(tmp_path / "early", early, {"caps.deadline": 1_000})).text == ANSWER
    answer = await go_on(tmp_path / "late", late, {"caps.deadline": 1_000})
    assert (answer.status, late.asked) == ("no_solution", []) and "deadline" in answer.reason
