"""``kgot batch``: what it is given, what it leaves, and how it goes on."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_command = runpy.run_path(str(FIXTURES / "command.py"))
kgot, move_into = (_command[name] for name in ("kgot", "move_into"))

MODEL = """
from pathlib import Path
from story import Story

class Counting(Story):
    def reply(self, prompt):
        with Path("paid").open("a") as file:
            file.write("x")
        if "SECRET TRUTH" in prompt:
            raise AssertionError("the truth has reached the model")
        if "hills of away" in prompt:
            raise ConnectionError("the model is away")
        return super().reply(prompt)

def model():
    return Counting().model()
"""
SET = ["--model", "import:counting:model", "--backend", "networkx", "--set", "sandbox=monty"]
SET += ["--set", "loop.max_llm_attempts=1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return move_into(tmp_path, monkeypatch, "counting", MODEL)  # type: ignore[no-any-return]


def write_tasks(*rows: dict[str, Any], name: str = "tasks.jsonl") -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def hills(*ids: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": name, "question": f"Which of the hills of {name} is higher?", **more} for name in ids]


def results(folder: str = "out") -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in Path(folder, "results.jsonl").read_text().splitlines()]
    assert len({row["task"] for row in rows}) == len(rows), "one line a task"
    return {row["task"]: row for row in rows}


def paid() -> int:
    return len(Path("paid").read_text()) if Path("paid").exists() else 0


def test_every_task_has_a_record_and_a_folder_of_its_own() -> None:
    tasks = write_tasks(*hills("one", "../two", "t" * 300), *hills("../Two", answer="SECRET TRUTH", level=3))
    done = kgot("batch", tasks, "--out", "out", "--jobs", "2", *SET)
    assert done.exit_code == 0, done.stderr
    rows = results()
    assert list(rows) == ["one", "../two", "t" * 300, "../Two"]
    assert {row["status"] for row in rows.values()} == {"answered"}
    folders = {row["folder"] for row in rows.values()}
    assert len({name.casefold() for name in folders}) == 4 and all(len(name) <= 80 for name in folders)
    for name in folders:
        names = {path.name for path in Path("out", name).iterdir()}
        assert names - {"files"} == {"answer.json", "blobs.txt", "events.jsonl"}
    assert json.loads(Path("out/truth.jsonl").read_text()) == {"id": "../Two", "answer": "SECRET TRUTH", "level": 3}
    for path in Path("out").rglob("*"):
        assert path.is_dir() or path.name == "truth.jsonl" or "SECRET TRUTH" not in path.read_text(), path
    batch = json.loads(Path("out/batch.json").read_text())
    assert batch["totals"]["statuses"] == {"answered": 4}
    assert batch["totals"]["usage"]["requests"] == paid()
    assert batch["plan"]["settings"]["values"]["batch.jobs"] == 2


def test_one_that_fails_is_recorded_and_tried_again_by_resume() -> None:
    tasks = write_tasks(*hills("here", "away"))
    done = kgot("batch", tasks, "--out", "out", *SET, "--strict")
    assert done.exit_code == 1
    assert "away failed" in done.stderr and "the model is away" in done.stderr
    assert {name: row["status"] for name, row in results().items()} == {"here": "answered", "away": "failed"}
    before, requests = results()["here"], paid()
    done = kgot("resume", "out", "--json")
    assert done.exit_code == 0, "without --strict a failure is a record like any other"
    assert json.loads(done.stdout)["statuses"] == {"answered": 1, "failed": 1}
    assert results()["here"] == before
    assert paid() == requests + 1, "the failed request alone is made again"


def test_new_tasks_of_a_grown_file_are_added_and_finished_ones_stay() -> None:
    kgot("batch", write_tasks(*hills("a", "b")), "--out", "out", *SET)
    files = {path: path.stat().st_mtime_ns for path in Path("out/a").iterdir()}
    requests = paid()
    write_tasks(*hills("new", "a", "b"))
    done = kgot("resume", "out", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert set(results()) == {"a", "b", "new"}
    assert {path: path.stat().st_mtime_ns for path in Path("out/a").iterdir()} == files
    assert paid() == requests * 3 // 2
    Path("tasks.jsonl").unlink()
    assert kgot("resume", "out").exit_code == 0, "what is known needs no task file"


def test_the_same_command_goes_on_but_not_with_other_settings() -> None:
    tasks = write_tasks(*hills("a"))
    assert kgot("batch", tasks, "--out", "out", *SET).exit_code == 0
    requests = paid()
    assert kgot("batch", tasks, "--out", "out", *SET).exit_code == 0
    assert paid() == requests
    done = kgot("batch", tasks, "--out", "out", *SET, "--max-iterations", "2")
    assert done.exit_code == 2 and "loop.max_iterations (7 then, 2 now)" in done.stderr
    write_tasks({"id": "a", "question": "Another question?"})
    done = kgot("resume", "out")
    assert done.exit_code == 2 and "another question" in done.stderr


def test_bad_lines_are_named_with_their_numbers_before_anything_starts() -> None:
    rows = [
        *hills("a"),
        *hills("a"),
        {"id": "b"},
        *hills("c", file=["x"]),
        *hills("d", files=["gone.csv"]),
        {"question": "q"},
    ]
    tasks = write_tasks(*rows)
    with Path(tasks).open("a") as file:
        file.write("no JSON\n\n[1]\n")
    done = kgot("batch", tasks, "--out", "out", *SET)
    assert done.exit_code == 2
    said = done.stderr.splitlines()
    for number, problem in (
        (2, "the id 'a' is that of line 1 too"),
        (3, "no question"),
        (4, "there is no field 'file': did you mean 'files'?"),
        (5, "the file gone.csv is not there"),
        (6, "no id"),
        (7, "not JSON"),
        (9, "not a JSON object"),
    ):
        assert any(line.startswith(f"tasks.jsonl: line {number}: {problem}") for line in said), (number, said)
    assert "7 problems in the task file" in said[-2]
    assert not Path("out").exists() and paid() == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["empty.jsonl", "--out", "out"], "has no task"),
        (["gone.jsonl", "--out", "out"], "cannot be read: No such file"),
        (["tasks.txt", "--out", "out"], "no task file that can be read"),
        (["tasks.jsonl", "--out", "out", "--jobs", "0"], "batch.jobs must be a whole number, at least 1"),
        (["tasks.jsonl", "--out", "out", "--jobs", "many"], "--jobs takes a whole number, not 'many'"),
        (["tasks.jsonl"], "a batch needs a folder"),
        (["tasks.jsonl", "--out", "."], "is not empty, and no batch is in it"),
        (["tasks.jsonl", "--out", "tasks.jsonl"], "is a file, and no folder for a batch"),
        (["tasks.jsonl", "--out", "out", "--scheduler", "nobody"], "nobody"),
    ],
)
def test_what_cannot_begin_says_why_and_leaves_nothing(arguments: list[str], said: str) -> None:
    write_tasks(*hills("a"))
    Path("empty.jsonl").write_text("\n")
    Path("tasks.txt").write_text("a question")
    done = kgot("batch", *arguments, *SET)
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert not Path("out").exists() and paid() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a", "question": "Why?"}\n{"id": "b"}\n', "tasks.jsonl: line 2: no question"),
        ("\n", "has no task"),
        (None, "cannot be read: No such file"),
    ],
)
@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize(
    "also_wrong",
    [
        ["--model", "openai:no-key-for-it"],
        ["--set", "sandbox=nobody"],
        ["--pool", "nowhere"],
        ["--scheduler", "mpi", "--ranks", "2", "--set", "schedulers.mpi.launcher=no-such-launcher"],
        ["--scheduler", "ray", "--ranks", "2", "--set", "schedulers.ray.address=127.0.0.1:1"],
    ],
)
def test_a_wrong_task_file_is_named_before_anything_else_is_looked_for(
    text: str | None, said: str, goes_on: bool, also_wrong: list[str]
) -> None:
    if goes_on:
        assert kgot("batch", write_tasks(*hills("a")), "--out", "out", *SET).exit_code == 0
    before = paid()
    if text is None:
        Path("tasks.jsonl").unlink(missing_ok=True)
    else:
        Path("tasks.jsonl").write_text(text)
    files = sorted(Path("out").rglob("*"))
    done = kgot("batch", "tasks.jsonl", "--out", "out", *SET, *also_wrong)
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert sorted(Path("out").rglob("*")) == files and paid() == before


def test_a_cap_on_the_batch_ends_it_and_a_higher_one_goes_on() -> None:
    tasks = write_tasks(*hills("a", "b", "c"))
    done = kgot("batch", tasks, "--out", "out", *SET, "--jobs", "1", "--batch-max-tokens", "12000")
    assert done.exit_code == 0, done.stderr
    assert [row["status"] for row in results().values()] == ["answered", "no_solution", "failed"]
    used = json.loads(Path("out/batch.json").read_text())["totals"]["usage"]
    assert used["input_tokens"] + used["output_tokens"] <= 12_000
    assert "c failed" in done.stderr and "the batch stopped at batch.max_tokens = 12,000" in done.stderr
    requests = paid()
    assert kgot("resume", "out").exit_code == 0
    assert paid() == requests, "the cap is reached, now as then"
    done = kgot("resume", "out", "--set", "batch.max_tokens=1000000")
    assert done.exit_code == 0 and results()["c"]["status"] == "answered"


def test_a_cap_on_the_cost_needs_prices() -> None:
    done = kgot("batch", write_tasks(*hills("a")), "--out", "out", *SET, "--batch-max-cost", "1")
    assert done.exit_code == 2 and "batch.max_cost cannot be kept" in done.stderr
    assert not Path("out").exists()
