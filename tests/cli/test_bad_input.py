"""Bad input: one clear line and the next step, a code that is not zero, and never a trace."""

from __future__ import annotations

import json
import runpy
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
QUESTION = runpy.run_path(str(FIXTURES / "story.py"))["QUESTION"]
_command = runpy.run_path(str(FIXTURES / "command.py"))
kgot, program = _command["kgot"], _command["program"]
_refusing = runpy.run_path(str(FIXTURES / "refusing.py"))
address, refused, run, KEY = (_refusing[name] for name in ("address", "refused", "run", "KEY"))


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    (folder / "note.txt").write_text("a note")
    (folder / "latin.txt").write_bytes(b"\xff\xfe caf\xe9")
    (folder / "list.json").write_text("[1]")
    (folder / "broken.json").write_text("{")
    (folder / "wrong.json").write_text('{"type": "nonsense"}')
    (folder / "deep").mkdir()
    return folder


BAD: Mapping[str, tuple[list[str], int, str]] = {
    "missing file": ([QUESTION, "--file", "gone.csv"], 2, "the file gone.csv does not exist"),
    "folder as file": ([QUESTION, "--file", "deep"], 2, "deep is not a file"),
    "missing folder": ([QUESTION, "--folder", "gone"], 2, "gone is not a folder"),
    "missing path to allow": ([QUESTION, "--allow-path", "gone"], 2, "gone, which tools may read, does not exist"),
    "empty file name": ([QUESTION, "--file", ""], 2, "is not a file"),
    "negative limit": ([QUESTION, "--max-iterations", "-1"], 2, "max_iterations"),
    "cost that is no number": ([QUESTION, "--max-cost", "much"], 2, "--max-cost takes a number, not 'much'"),
    "no cost": ([QUESTION, "--max-cost", "0"], 2, "caps.max_cost"),
    "deadline that is no time": ([QUESTION, "--deadline", "soon"], 2, "takes a time such as 90s, 15m or 1h"),
    "limit that is no number": ([QUESTION, "--max-iterations", "many"], 2, "takes a whole number, not 'many'"),
    "share that is none": ([QUESTION, "--abstain-below", "60"], 2, "must be a number, at most 1"),
    "share that is no number": ([QUESTION, "--abstain-below", "often"], 2, "takes a number, not 'often'"),
    "confidence that is none": (
        [QUESTION, "--voter", "adaptive", "--set", "voters.adaptive.confidence=0"],
        2,
        "voters.adaptive.confidence is above 0 and at most 1",
    ),
    "unknown setting": ([QUESTION, "--set", "loop.max_iteratoins=3"], 2, "max_iteratoins"),
    "setting without value": ([QUESTION, "--set", "loop.max_iterations"], 2, "has no value"),
    "setting of a wrong type": ([QUESTION, "--set", "graph.rows=all"], 2, "graph.rows"),
    "empty question": ([""], 2, "the question is empty"),
    "question of spaces": ([" \t\n "], 2, "the question is empty"),
    "unknown backend": ([QUESTION, "--backend", "papyrus"], 2, "papyrus"),
    "unknown solver": ([QUESTION, "--solver", "oracle"], 2, "oracle"),
    "unknown strategy": ([QUESTION, "--strategy", "luck"], 2, "luck"),
    "unknown voter": ([QUESTION, "--voter", "dice"], 2, "dice"),
    "unknown tool": ([QUESTION, "--tool", "hammer"], 2, "hammer"),
    "unknown tool left out": ([QUESTION, "--without-tool", "hammer"], 2, "hammer"),
    "unknown format": ([QUESTION, "--format", "verse"], 2, "verse"),
    "unknown sandbox": ([QUESTION, "--set", "sandbox=beach"], 2, "beach"),
    "unknown provider": ([QUESTION, "--model", "nobody:model"], 2, "nobody"),
    "model without provider": ([QUESTION, "--model", "gpt"], 2, "gpt"),
    "unknown option": ([QUESTION, "--modle", "x"], 2, "--modle"),
    "two questions": ([QUESTION, "and another"], 2, "another"),
    "missing schema": ([QUESTION, "--schema", "gone.json"], 2, "gone.json cannot be read"),
    "schema that is no JSON": ([QUESTION, "--schema", "broken.json"], 2, "broken.json is not JSON"),
    "schema that is no text": ([QUESTION, "--schema", "latin.txt"], 2, "latin.txt"),
    "schema that is a list": ([QUESTION, "--schema", "list.json"], 2, "list.json is not a JSON object"),
    "schema that is none": ([QUESTION, "--schema", "wrong.json"], 2, "JSON schema is not valid"),
    "runs folder that is a file": ([QUESTION, "--out", "note.txt"], 2, "cannot write the run to"),
    "runs folder below a file": ([QUESTION, "--out", "note.txt/runs"], 2, "cannot write the run to"),
    "missing plugin": ([QUESTION, "--plugin", "gone.py"], 2, "gone.py"),
    "plugin that is no Python": ([QUESTION, "--plugin", "note.txt"], 2, "note.txt"),
    "missing prompts": ([QUESTION, "--set", "prompts.dir=gone"], 2, "gone"),
    "missing graph schema": ([QUESTION, "--set", "graph.schema=gone.toml"], 2, "gone.toml"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_usage_of_run(case: str, address: str, folder: Path) -> None:
    arguments, code, wanted = BAD[case]
    options = run(address, *arguments)
    if "--backend" in arguments:
        place = options.index("--backend")
        del options[place : place + 2]
    found, line, _hint = refused(*options)
    assert (found, wanted in line) == (code, True), line
    assert not (folder / "runs").exists()


HINTED = ["empty question", "unknown setting", "unknown option", "runs folder that is a file"]


@pytest.mark.parametrize("case", HINTED)
def test_the_next_step_is_told(case: str, address: str) -> None:
    _code, line, hint = refused(*run(address, *BAD[case][0]))
    assert hint or "did you mean" in line


def test_no_model() -> None:
    code, line, hint = refused("run", QUESTION)
    assert code == 2 and line == "kgot: no model is set" and "--model" in hint


def test_no_question_at_all(address: str) -> None:
    code, line, hint = refused(*run(address), given="")
    assert code == 2 and line == "kgot: the question is empty" and "standard input" in hint


def test_a_question_that_is_no_text(address: str, folder: Path) -> None:
    process = program(run(address), folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.buffer.write(b"caf\xe9 \xff?")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "") and err.startswith("kgot: the question on standard input is not text")


def test_a_file_that_fails_when_it_is_read(address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def refuse(self: Path, *arguments: Any, **named: Any) -> Any:
        if self.name == "note.txt":
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *arguments, **named)

    monkeypatch.setattr(Path, "open", refuse)
    code, line, _hint = refused(*run(address, QUESTION, "--file", "note.txt"))
    assert code == 2 and "note.txt cannot be read: Permission denied" in line


def test_a_folder_of_the_kernel_cannot_be_written(address: str) -> None:
    if not Path("/proc/self").exists():
        pytest.skip("this system has no /proc")
    code, line, hint = refused(*run(address, QUESTION, "--out", "/proc/runs"))
    assert code == 2 and "cannot write the run to /proc/runs" in line and "--out" in hint


def test_the_folder_of_a_run_takes_no_run(address: str, folder: Path) -> None:
    assert kgot(*run(address, QUESTION)).exit_code == 0
    (made,) = (folder / "runs").iterdir()
    before = sorted(path.name for path in made.iterdir())
    code, line, hint = refused(*run(address, QUESTION, "--out", str(made)))
    assert code == 2 and "is the folder of a run" in line and hint
    assert sorted(path.name for path in made.iterdir()) == before


def test_a_wrong_key(address: str, folder: Path) -> None:
    code, line, _hint = refused(*run(address, QUESTION, **{"models.graph.api_key": f"{KEY}-wrong"}))
    assert code == 1 and "The run failed" in line and "key" in line
    (made,) = (folder / "runs").iterdir()
    assert json.loads((made / "answer.json").read_text())["status"] == "failed"


def test_an_unreachable_server() -> None:
    code, line, _hint = refused(*run("http://127.0.0.1:1/v1", QUESTION))
    assert code == 1 and "127.0.0.1:1" in line


@pytest.mark.parametrize("url", ["127.0.0.1:1", "ftp://127.0.0.1/v1", "http://", "http://[::1"])
def test_an_address_that_is_none(url: str) -> None:
    code, line, _hint = refused(*run(url, QUESTION))
    assert code in (1, 2) and "Traceback" not in line


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("loop = [", "kgot.toml"),
        ("loop.max_iterations = -1", "max_iterations"),
        ("weather = 1", "weather"),
        ("\xff", "kgot.toml"),
    ],
)
def test_a_wrong_settings_file(text: str, wanted: str, address: str, folder: Path) -> None:
    (folder / "kgot.toml").write_bytes(text.encode("latin-1"))
    code, line, _hint = refused(*run(address, QUESTION))
    assert code == 2 and wanted in line and "kgot.toml" in line


def test_a_wrong_variable(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGOT_LOOP__MAX_ITERATIONS", "-1")
    code, line, _hint = refused(*run(address, QUESTION))
    assert code == 2 and "KGOT_LOOP__MAX_ITERATIONS" in line


def test_a_plugin_file_that_fails(address: str, folder: Path) -> None:
    (folder / "own.py").write_text("import not_there_at_all")
    code, line, _hint = refused(*run(address, QUESTION, "--plugin", "own.py"))
    assert code == 2 and "own.py" in line and "not_there_at_all" in line


@pytest.mark.parametrize("command", ["rnu", "RUN", ""])
def test_an_unknown_command(command: str) -> None:
    code, line, _hint = refused(command)
    assert code == 2 and "there is no command" in line
