"""``kgot runs``, ``show``, ``replay`` and ``graph analyze``: what was run, and the same once more from its record."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.run.record.folder import EVENTS, read_records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
KINDS = runpy.run_path(str(FIXTURES / "kinds.py"))["KINDS"]
Story, quick, opened, heights, kgot = (
    *(_story[name] for name in ("Story", "quick", "opened", "heights")),
    _command["kgot"],
)
QUESTION, ANSWER, ENHANCE, SOLVE, WRITE = (_story[name] for name in ("QUESTION", "ANSWER", "ENHANCE", "SOLVE", "WRITE"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two whole runs, which no test changes."""
    folder = tmp_path_factory.mktemp("many") / "runs"

    async def make() -> None:
        async with opened(runs=folder) as session:
            await session.solve(QUESTION)
            await session.solve(f"{QUESTION} Again.")

    asyncio.run(make())
    yield folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("KGOT_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ids(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def on(runs: Path, *arguments: str) -> Any:
    return kgot(*arguments, "--set", f"runs_dir={runs}")


def test_runs_are_listed_oldest_first(runs: Path) -> None:
    done = on(runs, "runs")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ids(runs)
    assert all("answered" in line and "cost unknown" in line and "hills" in line for line in lines)
    rows = json.loads(on(runs, "runs", "--json").stdout)
    assert [row["question"] for row in rows] == [QUESTION, f"{QUESTION} Again."]
    assert rows[0] == {"run": ids(runs)[0], "status": "answered", "question": QUESTION, "cost": None, "answer": ANSWER}


def test_no_runs_yet(folder: Path) -> None:
    done = kgot("runs")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no runs yet\n")
    assert json.loads(kgot("runs", "--json").stdout) == []


def test_unfinished_newer_and_damaged_runs_are_listed_with_the_rest(runs: Path, folder: Path) -> None:
    whole = (runs / ids(runs)[0] / EVENTS).read_bytes()
    cases = {
        "20260101-unfinished": whole[: whole.index(b'"kind":"voted"')],
        "20260102-newer": whole.replace(b'"schema":1', b'"schema":99', 1),
        "20260103-damaged": b"broken\n" + whole,
        "20260104-empty": b"",
        "20260105-other": b'{"kind": "other", "step": ""}\n',
    }
    for name, data in cases.items():
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / EVENTS).write_bytes(data)
        (folder / "runs" / name / "blobs.txt").write_bytes((runs / ids(runs)[0] / "blobs.txt").read_bytes())
    (folder / "runs" / "no-run").mkdir()
    done = kgot("runs")
    assert done.exit_code == 0
    states = [line.split()[1] for line in done.stdout.splitlines()]
    assert states == ["interrupted", "unreadable", "unreadable", "unfinished", "unfinished"]
    shown = kgot("show", "20260101-unfinished")
    assert shown.exit_code == 0 and shown.stdout.endswith("kgot resume 20260101-unfinished goes on with it\n")
    assert json.loads(kgot("show", "20260101-unfinished", "--json").stdout)["status"] == "interrupted"
    for name in ("20260102-newer", "20260103-damaged"):
        for command in (["show"], ["replay"], ["graph", "analyze"]):
            refused = kgot(*command, name)
            assert refused.exit_code == 2 and refused.stderr.startswith("kgot: "), refused.stderr
    for name in ("20260104-empty", "20260105-other"):
        refused = kgot("replay", name)
        assert refused.exit_code == 2 and "has no beginning" in refused.stderr
        assert kgot("show", name).exit_code == 0


def test_a_run_by_its_path_its_id_its_beginning_or_last(runs: Path) -> None:
    first, last = ids(runs)
    texts = {on(runs, "show", name).stdout for name in (first, str(runs / first))}
    assert len(texts) == 1
    assert on(runs, "show", "last").stdout == on(runs, "show", last).stdout != texts.pop()
    length = next(place for place, (ours, theirs) in enumerate(zip(first, last, strict=True)) if ours != theirs)
    assert on(runs, "show", first[: length + 1]).stdout == on(runs, "show", first).stdout
    refused = on(runs, "show", first[:length])
    assert refused.exit_code == 2 and "2 runs begin with" in refused.stderr


@pytest.mark.parametrize("name", ["not-there", "last"])
@pytest.mark.parametrize("command", [["show"], ["replay"], ["graph", "analyze"]])
def test_a_run_that_is_not_there(command: list[str], name: str, folder: Path) -> None:
    done = kgot(*command, name)
    assert done.exit_code == 2 and f"there is no run '{name}'" in done.stderr and "kgot runs" in done.stderr


def test_show_tells_the_course_the_graph_and_the_answer(runs: Path) -> None:
    lines = on(runs, "show", "last").stdout.splitlines()
    for wanted in ("round 1 of 7", "graph:", f"answer: {ANSWER}"):
        assert wanted in lines
    assert any("vote: solve (solve 5)" in line for line in lines)
    assert any("HIGHER_THAN" in line for line in lines)
    assert any(line.startswith("  rests on ") and "Alderkop" in line for line in lines)


def test_show_gives_events_and_answer_for_machines(runs: Path) -> None:
    events = [json.loads(line) for line in on(runs, "show", "last", "--events").stdout.splitlines()]
    assert events == list(read_records(runs / ids(runs)[-1]))
    answer = json.loads(on(runs, "show", "last", "--json").stdout)
    assert answer == json.loads((runs / ids(runs)[-1] / "answer.json").read_text("utf-8"))


def test_show_tells_why_back_to_the_sources(runs: Path) -> None:
    lines = on(runs, "show", "last", "--why").stdout.splitlines()
    assert lines[0] == f"question: {QUESTION} Again." and lines[1] == f"answer: {ANSWER}"
    assert "found by the query" in lines and "rests on" in lines
    sources = [line.strip() for line in lines if line.strip().startswith("from ")]
    assert sources and all("1/enhance/tools/1" in line for line in sources)
    assert any("said: " in line and "700" in line for line in lines)
    data = json.loads(on(runs, "show", "last", "--why", "--json").stdout)
    assert data["answer"]["text"] == ANSWER and data["query"]["rows"] and data["calculations"] == []
    assert all(source["tool"] for evidence in data["evidence"] for source in evidence["sources"])
    assert all(evidence["round"] == 1 and evidence["text"] for evidence in data["evidence"])


def test_why_of_a_run_without_an_answer_says_so(runs: Path, folder: Path) -> None:
    broken = folder / "broken"
    broken.mkdir()
    whole = (runs / ids(runs)[0] / EVENTS).read_bytes()
    (broken / EVENTS).write_bytes(whole[: whole.index(b'"kind":"voted"')])
    (broken / "blobs.txt").write_bytes((runs / ids(runs)[0] / "blobs.txt").read_bytes())
    done = kgot("show", str(broken), "--why")
    assert done.exit_code == 2 and "has no answer yet" in done.stderr


def test_graph_analyze(runs: Path) -> None:
    result = json.loads(on(runs, "graph", "analyze", "last", "--json", "--from", "Alderkop", "--to", "Birkfell").stdout)
    assert (result["nodes"], result["edges"], result["types"]) == (2, 1, {"HIGHER_THAN": 1})
    assert result["shortest_path"]["nodes"] == ["Alderkop", "Birkfell"]
    assert result["components"] == {"count": 1, "sizes": [2]}
    text = on(runs, "graph", "analyze", "last").stdout
    assert "nodes: 2\n" in text and "degree centrality: Alderkop 1.000, Birkfell 1.000\n" in text and "{" not in text
    refused = on(runs, "graph", "analyze", "last", "--from", "Alderkop", "--to", "Nowhere")
    assert refused.exit_code == 2 and "Nowhere" in refused.stderr


def refuse(*arguments: Any, **named: Any) -> Any:
    raise AssertionError("a replay reaches for the outside")


@pytest.mark.parametrize("kind", KINDS)
def test_a_replay_gives_equal_events(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = KINDS[kind]()
    (folder / "hills.csv").write_text("Alderkop,700\nBirkfell,450\n")
    story = made.get("story") or quick()
    model = story.model(several=made.get("several", True), calls_tools=made.get("calls_tools", True))
    options = {name: made[name] for name in ("tools", "schema") if name in made}

    async def run() -> Any:
        async with opened(
            story, made.get("settings"), models={"graph": model}, runs=folder / "runs", **options
        ) as session:
            return await session.solve(QUESTION, attachments=made.get("attachments", ()))

    answer = asyncio.run(run())
    assert answer.status in ("answered", "no_solution", "failed")
    (folder / "hills.csv").unlink()
    # Neither model, tool, store nor sandbox may be opened again.
    for outside in (
        "subprocess.Popen.__init__",
        "socket.socket.connect",
        "kgot_networkx.plugin.open_backend",
        "kgot_core.sandboxes.monty.sandbox.MontySandbox.open",
        "langchain_core.language_models.BaseChatModel.agenerate",
    ):
        monkeypatch.setattr(outside, refuse)
    replayed = kgot("replay", "last")
    count = len(list(read_records(answer.folder)))
    assert (replayed.exit_code, replayed.stdout) == (0, f"equal: {count} events\n"), replayed.output


async def never(prompt: str) -> str:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("stage", ["decide", "choose", "extract", "compute", "parse"])
def test_a_cancelled_run_is_replayed_as_far_as_its_record_goes(stage: str, folder: Path) -> None:
    reached = asyncio.Event()

    async def stuck(prompt: str) -> str:
        reached.set()
        return await never(prompt)

    async def run() -> None:
        async with opened(quick(**{stage: stuck}), runs=folder / "runs") as session:
            task = asyncio.create_task(session.solve(QUESTION))
            await asyncio.wait_for(reached.wait(), 30)
            task.cancel()
            await asyncio.wait({task})

    asyncio.run(run())
    done = kgot("replay", "last")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("equal as far as the record goes: ") and "(cancelled)" in done.stdout


def test_a_run_that_failed_outside_its_record_is_replayed_as_far_as_it_goes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgot_networkx.backend import NetworkxBackend

    def lost(self: Any, statement: str, call: Any) -> Any:
        raise RuntimeError("lost")

    with monkeypatch.context() as patch:
        patch.setattr(NetworkxBackend, "query", lost)

        async def run() -> Any:
            async with opened(runs=folder / "runs") as session:
                return await session.solve(QUESTION)

        assert asyncio.run(run()).status == "failed"
    done = kgot("replay", "last")
    assert done.exit_code == 0 and "(failed)" in done.stdout, done.output


def test_a_record_that_was_changed_is_found_out(runs: Path, folder: Path) -> None:
    for name in ids(runs)[:1]:
        (folder / "runs" / name).mkdir(parents=True)
        for path in (runs / name).iterdir():
            text = path.read_text("utf-8").replace('"height_m":700', '"height_m":701').replace("700}", "701}")
            (folder / "runs" / name / path.name).write_text(text, "utf-8")
    done = kgot("replay", "last")
    assert done.exit_code == 1 and "Traceback" not in done.output
    assert "differs at" in done.stdout or "asks something else than the record" in done.stderr


def test_a_replay_with_other_prompts_is_refused(runs: Path, folder: Path) -> None:
    name = ids(runs)[0]
    (folder / "runs" / name).mkdir(parents=True)
    for path in (runs / name).iterdir():
        data = path.read_bytes()
        if path.name == EVENTS:
            first = json.loads(data.split(b"\n")[0])
            data = data.replace(first["prompts"].encode(), b"0" * len(first["prompts"]))
        (folder / "runs" / name / path.name).write_bytes(data)
    done = kgot("replay", "last")
    assert done.exit_code == 1 and "prompts have changed" in done.stderr
