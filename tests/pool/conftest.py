"""A pool of small servers, which are real processes, and batches that use it."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures"
TINY = FIXTURES / "pool" / "tiny.py"
_command = runpy.run_path(str(FIXTURES / "library" / "command.py"))

MODEL = """
import os
from pathlib import Path
from story import Story, ENHANCE, FACTS

SOLVE = "SOLVE\\nBoth.\\n```facts\\nFIND ?m\\n(Hill: Alderkop) height_m = ?m\\n```"

class Asking(Story):
    def reply(self, prompt):
        hook = Path("before_decide.py")
        if "Alderkop" in prompt and "Can the task be answered" in prompt and hook.is_file():
            code = hook.read_text()
            hook.unlink()
            exec(compile(code, "before_decide.py", "exec"), {})
        return super().reply(prompt)

def model():
    decide = lambda prompt: SOLVE if "Alderkop" in prompt else ENHANCE
    return Asking("ask_llm", {"question": "How high?"}, extract=FACTS, decide=decide).model()
"""


class Pooling:
    """The commands as a user gives them, in a folder with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = ["--plugin", str(TINY), "--set", "sandbox=monty", "--set", "pool.servers=process"]
        self.base += ["--set", "pool.check_seconds=0.2", "--set", "pool.patience=5"]

    def pool(self, command: str, *options: str) -> Any:
        return _command["kgot"]("pool", command, *self.base, *options)

    def start(self, slots: int, *options: str) -> dict[str, Any]:
        done = self.pool("start", "--slots", str(slots), "--backend", "tiny", *options)
        assert done.exit_code == 0, done.stderr
        return self.status(*options)

    def status(self, *options: str) -> dict[str, Any]:
        done = self.pool("status", "--json", *options)
        return dict(json.loads(done.stdout) or {})

    def batch(self, tasks: int, *options: str, jobs: int = 4, backend: str = "tiny") -> Any:
        rows = [{"id": f"t{number}", "question": f"How high is the hill {number}?"} for number in range(tasks)]
        Path("tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        given = ["--out", "out", "--jobs", str(jobs), "--backend", backend, "--model", "import:asking:model"]
        given += ["--set", "loop.max_llm_attempts=1", "--set", "extract.form=facts", "--set", "graph.seconds=5"]
        return _command["kgot"]("batch", "tasks.jsonl", *given, *self.base, *options)

    def paused_batch(self) -> subprocess.Popen[str]:
        """Starts a batch of one task as a program; its run waits where ``go`` is opened for writing."""
        os.mkfifo("go")
        Path("before_decide.py").write_text("open('go').read()")
        Path("tasks.jsonl").write_text(json.dumps({"id": "t0", "question": "How high is the hill?"}) + "\n")
        command = [sys.executable, "-m", "kgot_core", "batch", "tasks.jsonl", "--out", "paused", "--pool", "default"]
        command += ["--backend", "tiny", "--model", "import:asking:model", "--set", "extract.form=facts", *self.base]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path])}
        return subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL, text=True)

    def notes(self, what: str) -> list[Any]:
        rows = [json.loads(line) for line in Path("notes.jsonl").read_text().splitlines()]
        return [row[what] for row in rows if what in row]

    def results(self) -> dict[str, Any]:
        rows = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
        return {row["task"]: row for row in rows}


@pytest.fixture
def pooling(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pooling]:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    (folder / "asking.py").write_text(MODEL)
    for path in (folder, FIXTURES / "library"):
        monkeypatch.syspath_prepend(str(path))
    made = Pooling(folder)
    yield made
    made.pool("stop", "--force")
