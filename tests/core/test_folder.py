"""A run on disk: few files, readable while it goes on and after a crash, refused where it cannot be understood."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgot_core.contracts.sink import Sink
from kgot_core.errors import UsageError
from kgot_core.events import SCHEMA_VERSION, RunFinished, RunStarted, from_record
from kgot_core.run.record.folder import ANSWER, BLOBS, EVENTS, LONG_TEXT, RunWriter, read_records
from kgot_core.run.record.journal import Journal

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened, QUESTION = _story["Story"], _story["quick"], _story["opened"], _story["QUESTION"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run, which no test changes."""
    import kgot_core

    answer = kgot_core.solve(
        QUESTION,
        models={"graph": quick().model()},
        tools=[_story["heights"]],
        settings={"sandbox": "monty"},
        env=_story["NO_CONFIG"],
        runs=tmp_path_factory.mktemp("runs"),
    )
    assert answer.folder is not None
    return answer.folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in finished.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_is_three_files_in_a_folder_of_its_own(finished: Path) -> None:
    assert names(finished) == [ANSWER, BLOBS, EVENTS]
    records = list(read_records(finished))
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert {record["run"] for record in records} == {finished.name}
    answer = json.loads((finished / ANSWER).read_text("utf-8"))
    assert answer == records[-1]["answer"]
    assert list(answer) == [
        "run",
        "status",
        "text",
        "value",
        "how",
        "reason",
        "iterations",
        "agreement",
        "evidence",
        "usage",
        "cost",
    ]


def test_files_of_tools_lie_in_one_folder_beside(tmp_path: Path) -> None:
    import kgot_core

    answer = kgot_core.solve(
        QUESTION,
        models={"graph": Story(arguments={"code": "open('a.txt', 'w').write('x')\nprint('Alderkop')"}).model()},
        env=_story["NO_CONFIG"],
        runs=tmp_path,
    )
    assert answer.folder is not None and sorted(path.name for path in answer.folder.iterdir()) == [
        ANSWER,
        BLOBS,
        EVENTS,
        "files",
    ]
    assert [path.name for path in (answer.folder / "files").iterdir()] == ["a.txt"]


def test_every_line_is_json_and_long_texts_are_kept_once(finished: Path) -> None:
    lines = (finished / EVENTS).read_text("utf-8").splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    for record in read_records(finished):
        assert from_record(record) is not None
    blobs = (finished / BLOBS).read_text("utf-8")
    rules = next(record for record in read_records(finished) if record["kind"] == "model_called")["messages"][0]["text"]
    assert len(rules) > LONG_TEXT and blobs.count(rules) == 1


def test_every_call_has_its_place_its_time_and_its_part(finished: Path) -> None:
    calls = [record for record in read_records(finished) if "request" in record]
    assert {record["kind"] for record in calls} >= {"model_called", "tool_called", "graph_written", "graph_queried"}
    for record in calls:
        assert record["step"] and record["part"] and record["stage"] and len(record["request"]) == 16
        assert record["started"] >= 0 and record["seconds"] >= 0
    models = [record for record in calls if record["kind"] == "model_called"]
    assert all(record["role"] and record["usage"]["input_tokens"] > 0 for record in models)


async def test_a_run_can_be_read_while_it_goes_on(tmp_path: Path) -> None:
    seen: list[int] = []

    class Reader(Sink):
        def emit(self, record: Mapping[str, Any]) -> None:
            records = list(read_records(tmp_path / "run"))
            assert records[-1] == record
            seen.append(len(records))

    async with opened(sinks=[reader := Reader()]) as session:
        answer = await session.solve(QUESTION, folder=tmp_path / "run")
    assert reader and answer.status == "answered"
    assert seen == list(range(1, len(list(read_records(tmp_path / "run"))) + 1))


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_last_line_is_dropped(run: Path, cut: int) -> None:
    whole = list(read_records(run))
    data = (run / EVENTS).read_bytes()
    (run / EVENTS).write_bytes(data[: -cut - 1])
    assert list(read_records(run)) == whole[:-1]


def test_a_last_line_whose_end_is_missing_is_whole(run: Path) -> None:
    whole = list(read_records(run))
    (run / EVENTS).write_bytes((run / EVENTS).read_bytes().rstrip(b"\n"))
    assert list(read_records(run)) == whole


def test_a_last_event_whose_long_text_was_lost_is_dropped(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run")
    for number in (1, 2):
        writer.emit({"kind": "outside_called", "value": str(number) * 1000})
    writer.close()
    blobs = tmp_path / "run" / BLOBS
    blobs.write_bytes(blobs.read_bytes()[:-100])
    assert [record["value"] for record in read_records(tmp_path / "run")] == ["1" * 1000]


@pytest.mark.parametrize("line", [b"{broken", b"7", b"[]", b"{}", b'{"kind": {"@blob": [9, 99999999]}}', b"\xff\xfe"])
def test_damage_before_the_end_is_refused_with_the_line(run: Path, line: bytes) -> None:
    lines = (run / EVENTS).read_bytes().split(b"\n")
    (run / EVENTS).write_bytes(b"\n".join([*lines[:3], line, *lines[3:]]))
    with pytest.raises(UsageError, match="damaged at line 4"):
        list(read_records(run))


def test_a_newer_format_is_refused(run: Path) -> None:
    lines = (run / EVENTS).read_text("utf-8").splitlines(keepends=True)
    newer = lines[0].replace(f'"schema":{SCHEMA_VERSION}', f'"schema":{SCHEMA_VERSION + 1}')
    (run / EVENTS).write_text("".join([newer, *lines[1:]]), "utf-8")
    with pytest.raises(UsageError, match="newer version") as caught:
        list(read_records(run))
    assert "update" in caught.value.hint


def test_unknown_kinds_and_fields_are_passed_over() -> None:
    assert from_record({"kind": "package:thing"}) is None
    assert from_record({"kind": "run_started", "schema": 1, "question": "q", "weather": "fine"}) == RunStarted(
        question="q"
    )


@pytest.mark.parametrize("content", [None, b"", b"\n\n"])
def test_a_folder_without_a_run(tmp_path: Path, content: bytes | None) -> None:
    if content is None:
        with pytest.raises(UsageError, match="no run in"):
            list(read_records(tmp_path))
    else:
        (tmp_path / EVENTS).write_bytes(content)
        assert list(read_records(tmp_path)) == []


def test_a_folder_that_exists_is_never_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        RunWriter(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="cannot write"):
        RunWriter(tmp_path / "file" / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


async def test_a_folder_that_is_a_run_takes_no_other_run(finished: Path) -> None:
    before = names(finished)
    async with opened(runs=finished) as session:
        with pytest.raises(UsageError, match="is the folder of a run"):
            await session.solve(QUESTION)
    assert names(finished) == before


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.just("long \u00e9 " * 100),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "@blob", "data", "é"]), inner),
    max_leaves=6,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(JSON, min_size=1, max_size=4))
def test_what_is_written_is_read_again(values: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("any") / "run"
    writer = RunWriter(folder)
    journal = Journal("r", writer)
    kept = [journal.emit(f"s{number}", RunFinished(answer={"value": value})) for number, value in enumerate(values)]
    journal.close()
    assert list(read_records(folder)) == kept
    assert [record["answer"]["value"] for record in kept] == [_halves_replaced(value) for value in values]


def _halves_replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_halves_replaced(item) for item in value]
    if isinstance(value, dict):
        return {name: _halves_replaced(item) for name, item in value.items()}
    return value
