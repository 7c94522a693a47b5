"""``kgot demo``: a real task offline, the same for everybody."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kgot_core.run.record.folder import read_records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_command = runpy.run_path(str(FIXTURES / "command.py"))
kgot, program, environment = _command["kgot"], _command["program"], _command["environment"]


def test_it_shows_question_growing_graph_votes_and_answer(folder: Path) -> None:
    done = kgot("demo", "--keep", "kept")
    assert (done.exit_code, done.stderr) == (0, "")
    text = done.stdout
    assert "the model's replies are recorded" in text
    order = [
        "table summits.csv:",
        "sandbox: ",
        "question: By how many metres",
        "round 1 of 7",
        "  vote: enhance (enhance 5)",
        "  tool run_python_code(",
        "now 16 nodes and 8 edges",
        '    + "Aconcagua"',
        "round 2 of 7",
        "  vote: enhance (enhance 4, solve 1)",
        "  tool ask_llm(",
        "now 18 nodes and 13 edges",
        "round 3 of 7",
        "  vote: solve (solve 4, enhance 1)",
        "  query: 2 rows",
        "  script: Aconcagua 6961 m",
        "answered by voted query: 2 rounds",
        "answer: The highest summit in South America, Aconcagua, is 1066 metres higher",
        '  rests on "Aconcagua"',
    ]
    places = [text.find(wanted) for wanted in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    (run,) = (folder / "kept").iterdir()
    kinds = [record["kind"] for record in read_records(run)]
    # The table was read, the graph written and queried and the number calculated by the real parts.
    assert {"tool_called", "code_ran", "graph_written", "graph_queried", "model_called"} <= set(kinds)
    assert kgot("replay", "last", "--set", "runs_dir=kept").stdout == f"equal: {len(kinds)} events\n"


def test_nothing_of_the_user_changes_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = 'loop.num_next_steps_decision = 1\nextract.form = "facts"\nsolver = ["direct"]\nformat = "gaia"\n'
    (folder / "kgot.toml").write_text(config + 'runs_dir = "mine"\nbackend = ["neo4j"]\n')
    (folder / "config").mkdir()
    (folder / "config" / "kgot.toml").write_text(config + 'tools.enabled = ["ask_llm"]\nmodels.tool = "openai:x"\n')
    monkeypatch.setenv("KGOT_LOOP__MAX_ITERATIONS", "0")
    monkeypatch.setenv("KGOT_SOLVER", "nonsense")
    done = kgot("demo")
    assert done.exit_code == 0 and "1066 metres" in done.stdout, done.output
    assert sorted(path.name for path in folder.iterdir()) == ["config", "kgot.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="the search path is set the way of Unix")
def test_without_the_jail_it_works_in_the_portable_sandbox(folder: Path) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(shutil.which("python3") or sys.executable)
    process = program(
        ["demo"], folder, environment(PATH=str(folder / "bin")), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "sandbox: monty\n" in out and "1066 metres" in out


def test_a_folder_that_cannot_be_written_is_one_line(folder: Path) -> None:
    (folder / "file").write_text("mine")
    done = kgot("demo", "--keep", "file")
    assert done.exit_code == 2
    assert re.match(r"kgot: cannot write the run to .*: Not a directory\n", done.stderr)
