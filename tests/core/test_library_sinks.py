"""Sinks of a session, passed in code or brought by a plugin."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.sink import Sink
from kgot_core.errors import KgotError

_sessions = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "sessions.py"))
_story = _sessions["_story"]
Collected, answer_of = _sessions["Collected"], _sessions["answer_of"]
opened = _story["opened"]
QUESTION = _story["QUESTION"]


async def test_a_sink_passed_in_code_gets_all_events_and_is_not_closed() -> None:
    sink = Collected()
    answer = await answer_of(sinks=[sink])
    assert sink.kinds()[0] == "run_started" and sink.kinds()[-1] == "run_finished"
    assert {record["run"] for record in sink.records} == {answer.run}
    assert sink.closed == 0


@pytest.mark.parametrize("error", [ValueError("full"), SystemExit(3), KeyError()])
async def test_a_sink_that_raises_is_dropped_with_one_notice(error: BaseException) -> None:
    class Broken(Sink):
        calls = 0

        def emit(self, record: Mapping[str, Any]) -> None:
            self.calls += 1
            if self.calls > 2:
                raise error

    first, second, good = Broken(), Broken(), Collected()
    answer = await answer_of(sinks=[first, second, good])
    assert answer.status == "answered"
    notices = [record["text"] for record in good.records if record["kind"] == "notice"]
    assert len(notices) == 2 and all("Broken was dropped" in text and type(error).__name__ in text for text in notices)
    assert (first.calls, second.calls) == (3, 3)
    assert [record["seq"] for record in good.records] == list(range(1, len(good.records) + 1))


SINKS = """
import json
from dataclasses import dataclass, field
from pathlib import Path
from kgot_core.contracts.sink import Sink
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import SinkProvider

@dataclass(frozen=True)
class DiarySettings:
    file: str = field(default="", metadata={"help": "where to write"})

class Diary(Sink):
    def __init__(self, file, run):
        self.file = Path(file).open("a")
        print(run["run"], run["folder"], file=self.file)

    def emit(self, record):
        print(record["kind"], file=self.file)

    def close(self):
        print("closed", file=self.file)
        self.file.close()

@hookimpl
def kgot_event_sinks():
    def open_diary(settings, run):
        return Diary(settings.file, run)

    return [SinkProvider(name="diary", summary="Writes.", settings=DiarySettings, open=open_diary),
            SinkProvider(name="torn", summary="Fails.", open=lambda s, run: 1 / 0)]
"""


async def test_a_sink_of_a_plugin_is_opened_by_its_name_for_each_run_and_closed(tmp_path: Path) -> None:
    plugin, diary = tmp_path / "own_sinks.py", tmp_path / "diary.txt"
    plugin.write_text(SINKS)
    settings = {"plugins.load": [str(plugin)], "sinks.enabled": ["diary", "torn"], "sinks.diary.file": str(diary)}
    good = Collected()
    async with opened(settings=settings, sinks=[good]) as session:
        answers = [await session.solve(QUESTION) for _ in range(2)]
    lines = diary.read_text().split("closed\n")
    assert [text.split()[0] for text in lines[:2]] == [answer.run for answer in answers] and lines[2] == ""
    assert lines[0].split()[2:] == [record["kind"] for record in good.records if record["run"] == answers[0].run]
    notices = [record["text"] for record in good.records if record["kind"] == "notice"]
    assert len(notices) == 2 and notices[0].startswith("the sink torn was dropped: sink torn cannot be opened: ")


async def test_a_sink_that_is_not_installed_is_refused() -> None:
    with pytest.raises(KgotError, match="diary"):
        async with opened(settings={"sinks.enabled": ["diary"]}):
            raise AssertionError("the session must not open")
