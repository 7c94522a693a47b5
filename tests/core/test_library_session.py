"""A session as its user has it: several tasks, streams, objects instead of names, values under a schema."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, field_validator

import kgot_core
from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.errors import KgotError, UsageError
from kgot_core.events import Event, ModelCalled, Notice, RunFinished, RunStarted, ToolCalled, ToolsOpened

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened, heights = _story["Story"], _story["quick"], _story["opened"], _story["heights"]
QUESTION, ANSWER, ENHANCE, NO_CONFIG = (_story[name] for name in ("QUESTION", "ANSWER", "ENHANCE", "NO_CONFIG"))


class Collected(Sink):
    def __init__(self) -> None:
        self.records: list[Mapping[str, Any]] = []
        self.closed = 0

    def emit(self, record: Mapping[str, Any]) -> None:
        self.records.append(record)

    def close(self) -> None:
        self.closed += 1

    def kinds(self) -> list[str]:
        return [record["kind"] for record in self.records]


async def answer_of(story: Any = None, settings: Mapping[str, Any] | None = None, **options: Any) -> Any:
    async with opened(story, settings, **options) as session:
        return await session.solve(QUESTION)


async def events_of(session: Any, question: str = QUESTION) -> list[Event]:
    return [event async for event in session.stream(question)]


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


class Heights(BaseTool):
    name: str = "heights"
    description: str = "Gives the heights of hills."

    def _run(self, place: str) -> str:
        return f"{place}: Alderkop 700 m"


async def async_heights(place: str) -> str:
    """Gives the heights of hills."""
    await asyncio.sleep(0)
    return f"{place}: Alderkop 700 m"


def sync_heights(place: str) -> str:
    """Gives the heights of hills."""
    return f"{place}: Alderkop 700 m"


@tool("heights")
def decorated(place: str) -> str:
    """Gives the heights of hills."""
    return f"{place}: Alderkop 700 m"


@pytest.mark.parametrize(
    "given", [Heights(), async_heights, sync_heights, decorated], ids=lambda given: type(given).__name__
)
async def test_tools_passed_in_code(given: Any) -> None:
    name = getattr(given, "name", None) or given.__name__
    story = Story(name, {"place": "north"}, compute="NO")
    async with opened(story, tools=[given]) as session:
        events = await events_of(session)
    called = next(event for event in events if isinstance(event, ToolCalled))
    assert (called.tool, called.text, called.failed) == (name, "north: Alderkop 700 m", False)
    specs = next(event for event in events if isinstance(event, ToolsOpened)).specs
    assert {"ask_llm", "run_python_code", name} <= {spec["name"] for spec in specs}


async def test_a_tool_passed_in_code_takes_the_place_of_one_of_that_name() -> None:
    def ask_llm(place: str) -> str:
        """Gives the heights of hills."""
        return "mine"

    async with opened(Story("ask_llm", {"place": "north"}, compute="NO"), tools=[ask_llm]) as session:
        events = await events_of(session)
    opening = next(event for event in events if isinstance(event, ToolsOpened))
    assert [spec["name"] for spec in opening.specs].count("ask_llm") == 1
    assert "ask_llm" not in opening.left_out
    assert [event.text for event in events if isinstance(event, ToolCalled)] == ["mine"]


async def test_a_tool_of_a_provider_with_the_name_of_one_passed_in_code_is_left_out_with_a_line(tmp_path: Path) -> None:
    plugin = tmp_path / "several_tools.py"
    plugin.write_text(
        "from kgot_core.hookspecs import hookimpl\nfrom kgot_core.providers import ToolProvider\n"
        "def create(settings, context):\n"
        "    from langchain_core.tools import tool\n"
        "    @tool\n    def heights(place: str) -> str:\n        'Heights.'\n        return 'theirs'\n"
        "    @tool\n    def depths(place: str) -> str:\n        'Depths.'\n        return 'deep'\n"
        "    return [heights, depths]\n"
        "@hookimpl\ndef kgot_tools():\n"
        "    return [ToolProvider(name='surveys', summary='Measures.', create=create)]\n"
    )
    async with opened(settings={"plugins.load": [str(plugin)]}) as session:
        events = await events_of(session)
    opening = next(event for event in events if isinstance(event, ToolsOpened))
    assert "heights" in opening.left_out and "depths" in {spec["name"] for spec in opening.specs}
    assert [event.text for event in events if isinstance(event, ToolCalled)] == [heights("")]


class Unreasonable:
    def __call__(self) -> None: ...


def undocumented(place: str) -> str:
    return place


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": [undocumented]}, "undocumented cannot be a tool"),
        ({"tools": [42]}, "not int"),
        ({"tools": [Heights]}, "not Heights"),
        ({"tools": [heights, heights]}, "two tools passed in code are called heights"),
        ({"models": {"grpah": None}}, "no model role 'grpah'"),
        ({"models": {"graph": "openai:gpt-4o-mini"}}, "not str"),
        ({"backend": "networkx"}, "not str"),
        ({"schema": 3}, "not int"),
        ({"schema": {"type": "number", "minimum": "a"}}, "not valid at minimum"),
        ({"schema": {"$ref": "https://schemas.example/x.json"}}, "which is not read"),
        ({"settings": {"loop.max_iteratoins": 3}}, "max_iteratoins"),
        ({"settings": {"backend": ["paper"]}}, "paper"),
        ({"models": {}}, "no model is set"),
    ],
)
async def test_what_cannot_be_used_is_refused_before_a_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KgotError, match=message):
        async with opened(**options):
            raise AssertionError("the session must not open")


async def test_settings_in_tables_and_by_key() -> None:
    sink = Collected()
    async with opened(settings={"loop": {"max_iterations": 2}, "graph.rows": 7}, sinks=[sink]) as session:
        await session.solve(QUESTION)
    assert next(record["limit"] for record in sink.records if record["kind"] == "iteration_started") == 2


class Watched(GraphBackend):
    """The real backend, with a count of what is done to it."""

    def __init__(self, context: OpenContext) -> None:
        from kgot_networkx.backend import NetworkxBackend
        from kgot_networkx.settings import NetworkxSettings

        self.inner = NetworkxBackend(NetworkxSettings(), context)
        self.dialect = self.inner.dialect
        self.closed = 0
        self.running = 0
        self.most = 0

    def write(self, chain: str, call: Any) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return self.inner.write(chain, call)
        finally:
            self.running -= 1

    def query(self, statement: str, call: Any) -> Any:
        return self.inner.query(statement, call)

    def apply(self, change: Any, call: Any) -> None:
        self.inner.apply(change, call)

    def snapshot(self) -> Any:
        return self.inner.snapshot()

    def cancel(self) -> None:
        self.inner.cancel()

    def close(self) -> None:
        self.closed += 1
        self.inner.close()


async def test_a_function_that_opens_a_backend_is_called_for_each_run_and_what_it_opened_is_closed() -> None:
    made: list[Watched] = []

    def make(context: OpenContext) -> GraphBackend:
        made.append(Watched(context))
        return made[-1]

    async with opened(backend=make) as session:
        answers = [await session.solve(QUESTION) for _ in range(2)]
    assert [answer.status for answer in answers] == ["answered"] * 2
    assert [backend.closed for backend in made] == [1, 1]


async def test_an_open_backend_is_used_one_run_at_a_time_and_not_closed() -> None:
    from kgot_core.contracts.backend import GraphScope
    from kgot_core.sandboxes.monty import MontySandbox
    from kgot_core.sandboxes.providers import MontySettings

    backend = Watched(OpenContext(GraphScope("mine"), MontySandbox(MontySettings())))
    try:
        async with opened(backend=backend) as session:
            answers = await asyncio.gather(*(session.solve(QUESTION) for _ in range(3)))
        assert [answer.status for answer in answers] == ["answered"] * 3
        # The second run finds what the first one wrote.
        assert [answer.iterations for answer in answers] == [1, 0, 0]
        assert (backend.closed, backend.most) == (0, 1)
        assert len(backend.snapshot().nodes) == 2
    finally:
        backend.close()


async def test_a_client_passed_in_code_is_not_closed() -> None:
    from kgot_core.models.client import ModelClient

    class Client(ModelClient):
        closed = 0

        async def aclose(self) -> None:
            type(self).closed += 1

    client: Any = Client(quick().model())
    answer = await answer_of(models={"graph": client})
    assert answer.status == "answered" and Client.closed == 0


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


async def test_a_role_of_its_own_model() -> None:
    graph, tools = quick(), quick()
    answer = await answer_of(models={"graph": graph.model(), "tool": tools.model()})
    assert answer.status == "answered"
    assert tools.asked == ["choose"] and "choose" not in graph.asked


class Difference(BaseModel):
    metres: int
    hills: list[str]


JSON = '```json\n{"metres": 250, "hills": ["Alderkop", "Birkfell"]}\n```'
SCHEMA = Difference.model_json_schema()


async def test_a_json_schema_fills_the_value() -> None:
    answer = await answer_of(quick(parse=JSON), schema=SCHEMA)
    assert answer.status == "answered" and answer.value == {"metres": 250, "hills": ["Alderkop", "Birkfell"]}


async def test_a_pydantic_class_fills_the_value() -> None:
    answer = await answer_of(quick(parse=["no json", JSON]), schema=Difference)
    assert answer.value == Difference(metres=250, hills=["Alderkop", "Birkfell"])


async def test_a_value_that_never_obeys_is_a_failure_with_its_cause() -> None:
    answer = await answer_of(quick(parse='{"metres": "many", "hills": []}'), schema=Difference)
    assert (answer.status, answer.value) == ("failed", None) and "metres" not in answer.text
    with pytest.raises(KgotError, match="schema"):
        answer.raise_for_status()


async def test_a_class_that_asks_for_more_than_its_schema_says() -> None:
    class Even(Difference):
        @field_validator("metres")
        @classmethod
        def even(cls, value: int) -> int:
            raise ValueError("must be odd")

    answer = await answer_of(quick(parse=JSON), schema=Even)
    assert (answer.status, answer.value) == ("failed", None) and "must be odd" in answer.reason


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
