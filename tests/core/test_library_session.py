"""A session as its user has it: several tasks, streams, files, and what is refused."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.errors import UsageError
from kgot_core.events import ModelCalled, Notice, RunFinished, RunStarted, ToolCalled

_sessions = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "sessions.py"))
_story = _sessions["_story"]
Collected, answer_of, events_of = _sessions["Collected"], _sessions["answer_of"], _sessions["events_of"]
Story, quick, opened = _story["Story"], _story["quick"], _story["opened"]
QUESTION, ANSWER, ENHANCE = _story["QUESTION"], _story["ANSWER"], _story["ENHANCE"]


async def test_an_answer_with_its_evidence_and_usage() -> None:
    answer = await answer_of(Story(), {"sandbox": "auto"})
    assert (answer.text, answer.status, answer.how) == (ANSWER, "answered", "voted query")
    assert answer.raise_for_status() is answer
    assert answer.iterations == 1 and answer.usage.requests == 6 and answer.usage.input_tokens > 1000
    assert {item.sources for item in answer.evidence} == {("1/enhance/tools/1",)}
    assert any("Alderkop" in item.text for item in answer.evidence)
    assert answer.folder is None and answer.value is None and answer.run


async def test_several_tasks_at_once_in_one_session() -> None:
    story = quick()
    async with opened(story) as session:
        answers = await asyncio.gather(*(session.solve(f"{QUESTION} ({number})") for number in range(5)))
    assert [answer.text for answer in answers] == [ANSWER] * 5
    assert len({answer.run for answer in answers}) == 5
    assert [answer.usage.requests for answer in answers] == [6] * 5


async def test_two_sessions_do_not_see_each_other() -> None:
    direct = quick(
        decide=lambda prompt: _story["SOLVE_DIRECT"] if "Alderkop" in prompt else ENHANCE, parse="VALUE: b\nB."
    )
    first, second = Collected(), Collected()
    async with (
        opened(settings={"loop.max_iterations": 4}, sinks=[first]) as one,
        opened(
            direct,
            {"solver": "direct", "loop.max_iterations": 2, "extract.form": "facts", "sandbox": "auto"},
            models={"graph": direct.model(several=False)},
            sinks=[second],
        ) as other,
    ):
        answers = await asyncio.gather(one.solve(QUESTION), other.solve(QUESTION), one.solve(QUESTION))
    assert [(answer.text, answer.how) for answer in answers] == [
        (ANSWER, "voted query"),
        ("B.", "voted direct"),
        (ANSWER, "voted query"),
    ]
    assert {record["run"] for record in first.records} == {answers[0].run, answers[2].run}
    assert {record["run"] for record in second.records} == {answers[1].run}
    limits = {record["limit"] for record in first.records if record["kind"] == "iteration_started"}
    assert limits == {4}
    assert first.kinds().count("graph_queried") == 2 and "graph_queried" not in second.kinds()
    votes = [
        [
            record["samples"]
            for record in sink.records
            if record["kind"] == "model_called" and record["stage"] == "decide"
        ]
        for sink in (first, second)
    ]
    assert set(votes[0]) == {5} and max(votes[1][1:]) <= 3


async def test_a_stream_gives_the_events_in_order_and_the_answer_last() -> None:
    sink = Collected()
    async with opened(sinks=[sink]) as session:
        events = await events_of(session)
    assert isinstance(events[0], RunStarted) and isinstance(events[-1], RunFinished)
    assert [event.kind for event in events] == sink.kinds()
    assert [record["seq"] for record in sink.records] == list(range(1, len(events) + 1))
    assert events[-1].answer["text"] == ANSWER
    assert sum(isinstance(event, RunFinished) for event in events) == 1


async def test_a_stream_of_a_wrong_task_raises_and_one_of_a_failed_run_ends_with_its_answer() -> None:
    async with opened(quick(decide=ValueError("out of order")), {"loop.max_llm_attempts": 1}) as session:
        with pytest.raises(UsageError, match="question is empty"):
            await events_of(session, "  ")
        last = (await events_of(session))[-1]
    assert isinstance(last, RunFinished) and last.answer["status"] == "failed"
    assert "out of order" in str(last.answer["reason"])


@pytest.mark.parametrize("end", ["break", "close", "session"])
async def test_leaving_a_stream_early_cancels_its_run(end: str) -> None:
    sink = Collected()
    asked = asyncio.Event()

    async def never(prompt: str) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with opened(quick(extract=never), sinks=[sink]) as session:
        stream = session.stream(QUESTION)
        async for event in stream:
            if isinstance(event, ToolCalled):
                break
        await asyncio.wait_for(asked.wait(), 5)
        if end == "close":
            await stream.aclose()
            assert sink.kinds()[-1] == "run_finished"
        elif end == "break":
            del stream
    assert sink.records[-1]["answer"]["status"] == "cancelled"


async def test_settings_in_tables_and_by_key() -> None:
    sink = Collected()
    async with opened(settings={"loop": {"max_iterations": 2}, "graph.rows": 7}, sinks=[sink]) as session:
        await session.solve(QUESTION)
    assert next(record["limit"] for record in sink.records if record["kind"] == "iteration_started") == 2


async def test_in_memory_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, temporary = tmp_path / "work", tmp_path / "tmp"
    work.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    table = tmp_path / "hills.csv"
    table.write_text("name,height\nAlderkop,700\nBirkfell,450\n")
    code = "open('made.txt', 'w').write('x')\nprint(open('hills.csv').read())"
    async with opened(Story(arguments={"code": code}), {"sandbox": "auto"}) as session:
        answer = await session.solve(QUESTION, attachments=[table])
    assert answer.status == "answered"
    assert list(work.iterdir()) == [] and list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("task", "files", "message"),
    [
        (" \n", [], "question is empty"),
        (kgot_core.Task(""), [], "question is empty"),
        (QUESTION, ["not-there.csv"], "not-there.csv does not exist"),
        (QUESTION, ["."], "is not a file"),
        (7, [], "not int"),
    ],
)
async def test_a_wrong_task_is_refused(task: Any, files: Sequence[str], message: str, tmp_path: Path) -> None:
    async with opened(runs=tmp_path / "runs") as session:
        with pytest.raises(UsageError, match=message):
            await session.solve(task, attachments=files)
    assert not (tmp_path / "runs").exists()


async def test_a_session_that_is_not_open_says_how_to_open_it() -> None:
    session = opened()
    with pytest.raises(UsageError, match="not open"):
        await session.solve(QUESTION)


async def test_text_that_no_encoding_can_write_goes_through_a_run(tmp_path: Path) -> None:
    odd = "half \ud83d of a pair"

    def told(place: str) -> str:
        """Gives the heights of hills."""
        return odd

    story = Story("told", {"place": odd}, compute="NO")
    answer = await answer_of(story, tools=[told], runs=tmp_path)
    assert answer.status == "answered"
    (tmp_path / answer.run / "events.jsonl").read_text("utf-8")


async def test_attachments_of_one_name_have_names_of_their_own(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "hills.csv" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(path.parent.name)
    code = "print(open('hills.csv').read(), open('hills-2.csv').read())"
    async with opened(Story(arguments={"code": code}, compute="NO"), {"sandbox": "auto"}) as session:
        events = [event async for event in session.stream(kgot_core.Task(QUESTION, (paths[0],)), attachments=paths[1:])]
    assert [event.text for event in events if isinstance(event, ToolCalled)] == ["a b"]


async def test_a_model_that_cannot_take_several_samples_is_noticed_once() -> None:
    async with opened(models={"graph": quick().model(several=False)}) as session:
        events = await events_of(session)
        again = await events_of(session)
    assert sum(isinstance(event, Notice) for event in events) == 1
    assert not any(isinstance(event, Notice) for event in again)
    assert max(event.samples for event in again if isinstance(event, ModelCalled)) <= 3
