"""Task files: what is read of each form, what is refused, the names of folders, the estimates."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.batch.checking import check_rows
from kgot_core.batch.estimates import earlier_seconds, estimate
from kgot_core.batch.names import LONGEST, folder_names
from kgot_core.batch.preparing import prepare
from kgot_core.batch.task_files import read_rows
from kgot_core.errors import UsageError

SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60)
TASK = {"id": "7", "question": 'Which, "if any"?\nSay.', "files": ["a.csv", "b/c d.txt"], "answer": "x", "level": "2"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.csv").touch()
    (tmp_path / "b" / "c d.txt").touch()
    return tmp_path


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row in rows:
                writer.writerow({**row, "files": ";".join(row["files"]), "meta": json.dumps(row["meta"])})
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "csv", "parquet"])
def test_every_form_gives_the_same_tasks(ending: str, folder: Path) -> None:
    path = write(folder / f"tasks.{ending}", [{**TASK, "meta": {"source": "here"}, "annotator": "somebody"}])
    tasks, problems = check_rows(read_rows(path), folder)
    assert problems == []
    [task] = tasks
    assert (task.id, task.question) == ("7", TASK["question"])
    assert task.files == (str(folder / "a.csv"), str(folder / "b/c d.txt"))
    meta = {"source": "here", "annotator": "somebody"}
    assert task.truth == {"answer": "x", "level": "2", "meta": meta}, "what is not asked is nobody's but the scorer's"


def test_lines_of_a_csv_file_are_counted_as_an_editor_does(folder: Path) -> None:
    (folder / "tasks.csv").write_text('id,question\n1,"a\nb"\n\n2,\n3,c,d\n')
    rows = read_rows(folder / "tasks.csv")
    assert check_rows(rows, folder)[1] == ["line 5: no question", "line 6: 3 fields where the first line names 2"]


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_file_that_is_no_text_is_refused(ending: str, folder: Path) -> None:
    path = folder / f"tasks.{ending}"
    path.write_bytes(b"id,question\n1,\xff\xfe\n" if ending == "csv" else b'{"id": "\xff"}\n')
    if ending == "csv":
        with pytest.raises(UsageError, match="not UTF-8"):
            read_rows(path)
    else:
        assert check_rows(read_rows(path), folder)[1] == ["line 1: not UTF-8 text"]


def test_a_parquet_file_that_is_none_is_refused(folder: Path) -> None:
    (folder / "tasks.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UsageError, match="not Parquet"):
        read_rows(folder / "tasks.parquet")


@given(st.lists(st.fixed_dictionaries({"id": TEXT, "question": TEXT, "level": TEXT}), min_size=1, max_size=5))
def test_any_text_is_a_task_or_one_named_problem(rows: list[dict[str, str]]) -> None:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ["id", "question", "level"])
    writer.writeheader()
    writer.writerows(rows)
    from kgot_core.batch.task_files import _READERS

    for data, ending in (
        ("".join(json.dumps(row) + "\n" for row in rows).encode(), ".jsonl"),
        (stream.getvalue().encode(), ".csv"),
    ):
        tasks, problems = check_rows(_READERS[ending](data), Path("/"))
        assert len({task.id for task in tasks}) == len(tasks)
        assert all(task.question.strip() and task.id.strip() for task in tasks)
        assert all(re.match(r"line \d+: ", problem) for problem in problems)
        if ending == ".jsonl":
            named = {problem.partition(":")[0] for problem in problems}
            assert len(tasks) + len(named) == len(rows)


@given(
    st.lists(
        st.one_of(st.text(max_size=400), st.sampled_from(["../x", "x" * 300, "A", "a", "con", "results.jsonl"])),
        unique=True,
    )
)
def test_folder_names_are_safe_and_differ_by_more_than_case(ids: list[str]) -> None:
    names = folder_names(ids)
    assert names.keys() == set(ids)
    assert len({name.casefold() for name in names.values()}) == len(ids)
    for name in names.values():
        assert SAFE.fullmatch(name) and len(name) <= LONGEST and not name.endswith((".", ".json", ".jsonl"))
    assert folder_names([*reversed(ids), "one more"], names) | names == folder_names(["one more"], names)


def test_an_id_that_is_a_name_is_the_name() -> None:
    ids = ["task-1", "c61d22de-5f6c-4958-a7f6-5e9707bd3466", "Q.12_b"]
    assert folder_names(ids) == {name: name for name in ids}


def test_the_estimate_is_what_the_task_took_before_else_by_level_and_files(folder: Path) -> None:
    rows = [{**TASK, "id": str(level), "level": level, "files": []} for level in (1, 2, "Level 3")]
    rows += [{**TASK, "id": "files"}, {**TASK, "id": "known", "question": "Again?"}]
    tasks, _ = check_rows(read_rows(write(folder / "tasks.jsonl", rows)), folder)
    earlier = folder / "earlier"
    earlier.mkdir()
    known = {"digest": tasks[-1].digest, "status": "answered"}
    lines = [{**known, "seconds": seconds} for seconds in (900, 1000, 5000)]
    lines += [{**known, "seconds": 1, "status": "failed"}, {"digest": 7, "seconds": "x"}]
    write(earlier / "results.jsonl", lines)
    seconds = [estimate(task, earlier_seconds([earlier, folder])) for task in tasks]
    assert seconds[0] < seconds[1] < seconds[2] and seconds[3] > seconds[1] and seconds[4] == 1000


def test_what_the_solving_process_reads_holds_no_truth(folder: Path) -> None:
    path = write(folder / "tasks.jsonl", [{**TASK, "answer": "TRUTH", "level": "LEVEL 3", "meta": {"hint": "HINT"}}])
    out = folder / "out"
    out.mkdir()
    assert prepare(path, out) == {"tasks": 1, "problems": []}
    assert not {"TRUTH", "LEVEL", "HINT"} & set(re.findall(r"[A-Z]{4,}", (out / "tasks.jsonl").read_text()))
    truth = json.loads((out / "truth.jsonl").read_text())
    assert truth == {"id": "7", "answer": "TRUTH", "level": "LEVEL 3", "meta": {"hint": "HINT"}}
    assert (out / "truth.jsonl").stat().st_mode & 0o077 == 0
