"""A run that goes on: what is answered from its record, what is told and what is refused."""

from __future__ import annotations

import asyncio
import json
import re
import runpy
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.contracts.backend import OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.errors import ReplayDiverged, UsageError
from kgot_core.providers import ToolProvider
from kgot_core.run.record.folder import read_records
from kgot_core.session.library import load_settings
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.memory_backend import MemoryBackend, MemoryStore

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_breaking = runpy.run_path(str(FIXTURES / "breaking.py"))
_story = _breaking["_story"]
cut_off, course = _breaking["cut_off"], _breaking["course"]
quick, opened, heights = (_story[name] for name in ("quick", "opened", "heights"))
QUESTION, ANSWER, ENHANCE, SOLVE = (_story[name] for name in ("QUESTION", "ANSWER", "ENHANCE", "SOLVE"))


async def begin(folder: Path, story: Any = None, settings: Mapping[str, Any] | None = None, **given: Any) -> Any:
    files = given.pop("attachments", ())
    async with opened(story, settings, **given) as session:
        return await session.solve(QUESTION, folder=folder, attachments=files)


async def go_on(folder: Path, story: Any = None, settings: Mapping[str, Any] | None = None, **given: Any) -> Any:
    how = {name: given.pop(name) for name in ("question", "attachments", "force", "sinks") if name in given}
    async with opened(story, settings, **given) as session:
        return await session.resume(folder, **how)


def place_of(folder: Path, kind: str, **fields: Any) -> int:
    """Gives how many events there are before the first one of a kind."""
    records = list(read_records(folder))
    return next(
        number
        for number, record in enumerate(records)
        if record["kind"] == kind and all(record[name] == value for name, value in fields.items())
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run, which no test changes."""
    folder = tmp_path_factory.mktemp("resume") / "whole"
    asyncio.run(begin(folder))
    return folder


@pytest.fixture
def broken(whole: Path, tmp_path: Path) -> Path:
    """A run that was broken off while the graph was being written."""
    cut_off(whole, tmp_path / "broken", place_of(whole, "graph_written"))
    return tmp_path / "broken"


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


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "question": ({"question": "Which hill is it?"}, "the question"),
    "setting": ({"settings": {"loop.max_iterations": 3}}, r"the setting loop.max_iterations \(7 then, 3 now\)"),
    "backend": ({"settings": {"backend": "rdf"}}, r"the backend \(networkx then, rdf now\)"),
    "schema": ({"schema": {"type": "object"}}, "the answer's schema"),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_what_has_changed_is_refused_by_its_name(what: str, broken: Path) -> None:
    before = (broken / "events.jsonl").read_bytes()
    given, line = CHANGES[what]
    with pytest.raises(UsageError, match=line) as refused:
        await go_on(broken, quick(), given.get("settings"), **{n: v for n, v in given.items() if n != "settings"})
    assert "--force" in refused.value.hint
    assert list(read_records(broken)) and before.startswith((broken / "events.jsonl").read_bytes())


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda start: start.update(prompts="other"), r"this has changed: the prompts \(go on"),
        (
            lambda start: start["plan"]["models"].update(graph="openai:a"),
            r"the model of graph \(openai:a then, Scripted",
        ),
        (lambda start: start["versions"].update({"kgot-networkx": "9"}), r"the package kgot-networkx \(9 then, "),
        (lambda start: start["plan"]["sandbox"].update(name="bwrap"), r"the sandbox \(bwrap then, monty now\)"),
        (lambda start: start["plan"].update(graph_schema="x"), "the graph's schema"),
    ],
)
async def test_what_differs_from_the_record_is_refused_by_its_name(broken: Path, change: Any, line: str) -> None:
    rewrite(broken, change)
    with pytest.raises(UsageError, match=line):
        await go_on(broken)


def rewrite(folder: Path, change: Any) -> None:
    """Changes a run's first event, with its long texts put back."""
    lines = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    start = next(iter(read_records(folder)))
    change(start)
    (folder / "events.jsonl").write_text("".join([json.dumps(start) + "\n", *lines[1:]]))


async def test_a_package_that_takes_no_part_may_change(broken: Path) -> None:
    rewrite(broken, lambda start: start["versions"].update({"kgot-rdf": "0.0.1"}))
    assert (await go_on(broken)).text == ANSWER


@pytest.mark.parametrize("key", ["runs_dir", "graph.seconds", "loop.max_llm_attempts", "models.graph.timeout"])
async def test_what_does_not_matter_may_change(key: str, broken: Path) -> None:
    value = "elsewhere" if key == "runs_dir" else 9
    assert (await go_on(broken, quick(), {key: value})).text == ANSWER


async def test_with_force_recorded_answers_stay_and_what_follows_is_asked_in_the_new_way(broken: Path) -> None:
    story = quick()
    answer = await go_on(broken, story, {"loop.max_iterations": 3}, force=True)
    assert (answer.text, story.asked) == (ANSWER, ["decide", "compute", "parse"])
    [resumed] = (record for record in read_records(broken) if record["kind"] == "run_resumed")
    assert resumed["changed"] == ["the setting loop.max_iterations (7 then, 3 now)"]
    registry, _ = load_settings({}, broken, [])
    with pytest.raises(ReplayDiverged, match="although something had changed"):
        await replay_run(registry, broken, env={})


async def test_attachments_are_looked_for_and_compared(tmp_path: Path) -> None:
    table = tmp_path / "hills.csv"
    table.write_text("Alderkop,700\n")
    await begin(tmp_path / "whole", attachments=[table])
    for name in ("moved", "changed", "unknown", "forced"):
        cut_off(tmp_path / "whole", tmp_path / name, 8)
    table.write_text("Alderkop,701\n")
    with pytest.raises(UsageError, match=r"this has changed: the attachment hills\.csv \(go on"):
        await go_on(tmp_path / "changed")
    assert (await go_on(tmp_path / "forced", force=True)).text == ANSWER
    table.unlink()
    with pytest.raises(UsageError, match=r"the attachment hills\.csv is not at .* any more") as missing:
        await go_on(tmp_path / "moved")
    assert "--file" in missing.value.hint
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "hills.csv").write_text("Alderkop,700\n")
    assert (await go_on(tmp_path / "moved", attachments=[tmp_path / "new" / "hills.csv"])).text == ANSWER
    with pytest.raises(UsageError, match=r"no attachment valleys\.csv"):
        await go_on(tmp_path / "unknown", attachments=["valleys.csv"])


async def test_a_run_whose_record_was_changed_says_where_it_differs(broken: Path) -> None:
    rewrite(broken, lambda start: start.update(question="Which hill is it?"))
    with pytest.raises(ReplayDiverged, match="asks something else than the record at 1/decide/votes-1"):
        await go_on(broken)
    assert not (broken / "running.json").exists()


def sending(taken: list[str], reached: asyncio.Event) -> dict[str, Any]:
    """Offers a tool ``heights`` whose first call does not come to its end."""
    from langchain_core.tools import StructuredTool

    async def send(place: str) -> str:
        """Sends somebody there."""
        taken.append(place)
        if len(taken) == 1:
            reached.set()
            await asyncio.Event().wait()
        return "Alderkop 700 m, Birkfell 450 m"

    return {"tools": [StructuredTool.from_function(coroutine=send, name="heights")]}


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_a_writing_tool_that_was_broken_off_is_not_called_again_and_the_model_is_told(
    effect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ToolProvider
    monkeypatch.setattr("kgot_core.session.tools.providers.ToolProvider", lambda **given: made(**given, effect=effect))
    taken: list[str] = []
    reached = asyncio.Event()
    async with opened(quick(), **sending(taken, reached)) as session:
        running = asyncio.create_task(session.solve(QUESTION, folder=tmp_path / "run"))
        await asyncio.wait_for(reached.wait(), 30)
        running.cancel()
        await asyncio.wait({running})
    told: list[str] = []

    def extract(prompt: str) -> str:
        told.append(prompt)
        return str(_story["WRITE"])

    answer = await go_on(tmp_path / "run", quick(extract=extract), **sending(taken, reached))
    assert answer.text == ANSWER and len(taken) == (1 if effect == "write" else 2)
    assert ("may or may not have taken effect" in told[0]) is (effect == "write")


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


FACT = "```facts r1\n(Hill: Alderkop) height_m = 700\n(Hill: Birkfell) height_m = 450\n```"
FIND = "SOLVE\nIt is there.\n```facts\nFIND ?height\n(Hill: ?name) height_m = ?height\n```"


def kept(store: MemoryStore) -> dict[str, Any]:
    """Offers a store that outlives the process, as a server does."""

    def memory(context: OpenContext) -> MemoryBackend:
        return MemoryBackend(context, store)

    return {"backend": memory}


async def test_a_write_that_was_committed_but_not_recorded_is_there_once(tmp_path: Path) -> None:
    store = MemoryStore()
    story = quick(extract=FACT, decide=lambda prompt: FIND if "Alderkop" in prompt else ENHANCE)
    whole = await begin(tmp_path / "whole", story, {}, **kept(store))
    assert whole.status == "answered", whole
    [graph] = store.graphs.values()
    held = graph.snapshot()
    assert len(held.nodes) == 2
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "graph_written"))
    again = quick(extract=FACT, decide=lambda prompt: FIND if "Alderkop" in prompt else ENHANCE)
    await go_on(tmp_path / "run", again, {}, **kept(store))
    [graph] = store.graphs.values()
    assert graph.snapshot() == held
    assert (tmp_path / "run" / "answer.json").read_bytes() == (tmp_path / "whole" / "answer.json").read_bytes()


async def test_a_store_that_is_not_empty_is_not_overwritten(broken: Path, whole: Path, tmp_path: Path) -> None:
    class Full(MemoryBackend):
        def __init__(self, context: OpenContext) -> None:
            super().__init__(replace(context, scope=replace(context.scope, mode="keep"), resume=False), store)

    store = MemoryStore()
    story = quick(extract=FACT, decide=lambda prompt: FIND if "Alderkop" in prompt else ENHANCE)
    await begin(tmp_path / "whole", story, {}, **kept(store))
    cut_off(tmp_path / "whole", tmp_path / "run", place_of(tmp_path / "whole", "graph_written"))

    def memory(context: OpenContext) -> MemoryBackend:
        return Full(context)

    answer = await go_on(tmp_path / "run", quick(), {}, backend=memory)
    assert answer.status == "failed" and "the store holds 2 nodes already" in answer.reason


async def test_a_tool_that_has_gone_or_changed_is_named(broken: Path) -> None:
    def heights(place: str, unit: str) -> str:
        """Gives the heights of hills in a unit."""
        return ""

    with pytest.raises(ReplayDiverged, match="the tool heights of this run is not there any more"):
        await go_on(broken, tools=[])
    with pytest.raises(ReplayDiverged, match="the tool heights is described in another way"):
        await go_on(broken, tools=[heights])
    assert (await go_on(broken)).text == ANSWER


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
