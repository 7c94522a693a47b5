"""The job file for Slurm and Sarus, run as it is, with stand-ins for ``srun``, ``scontrol`` and ``sarus``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

JOB = Path(__file__).parents[2] / "examples" / "slurm-sarus.sh"
# What stands after the options is run here, as the only task of the step; signals reach it, as they do with Slurm.
PATIENCE = 100.0
SRUN = """#!/bin/bash
while [[ $1 == --* ]]; do shift; done
exec "$@"
"""
SCONTROL = """#!/bin/bash
echo "$@" >> scontrol.txt
"""


@pytest.fixture
def job(pooling: Any, sarus_settings: Any, tmp_path: Path) -> Any:
    """Gives a function that starts the job file."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    programs = tmp_path / "programs"
    programs.mkdir()
    kgot = f'#!/bin/bash\nexec {sys.executable} -m kgot_core "$@"\n'
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL), ("kgot", kgot)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    values = {"sandbox": "monty", "sandboxes.sarus.path": sarus_settings.path}
    values |= {"backends.tiny.image": "load/library/kgot-sandbox", "pool.check_seconds": 0.2, "pool.patience": 60}
    options = " ".join(f"--set {name}={value}" for name, value in values.items())
    options += f" --backend tiny --plugin {pooling.base[1]}"
    asked = "--model import:asking:model --set extract.form=facts --set graph.seconds=5"
    (tmp_path / "activate").write_text(f'PATH="{programs}:$PATH"\n')
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NUM_NODES": "1",
        "activate": str(tmp_path / "activate"),
        "jobs": "2",
        "servers": options,
        "options": f"{options} {asked}",
    }

    def start(tasks: int) -> subprocess.Popen[str]:
        rows = [{"id": f"t{number}", "question": f"How high is the hill {number}?"} for number in range(tasks)]
        Path("tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = ["bash", str(JOB), "tasks.jsonl", "out"]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return start


def test_the_job_file_answers_all_and_leaves_no_pool(job: Any, pooling: Any) -> None:
    process = job(3)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert {row["status"] for row in pooling.results().values()} == {"answered"}, said
    assert pooling.status("--pool", "job-7") == {} and not Path("scontrol.txt").exists()
    assert not list(Path().glob(".kgot-pools-*"))


def test_told_that_the_time_is_up_it_ends_in_order_and_is_queued_again(job: Any, pooling: Any) -> None:
    os.mkfifo("go")
    Path("before_decide.py").write_text("open('go').read()")
    process = job(1)
    with Path("go").open("w"):  # opens once the run is at its place
        process.send_signal(signal.SIGUSR1)
        assert any("interrupted" in line for line in iter(process.stdout.readline, ""))
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 75, said
    assert Path("scontrol.txt").read_text() == "requeue 7\n"
    assert pooling.status("--pool", "job-7") == {}
    again = job(1)
    said, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, said
    assert pooling.results()["t0"]["status"] == "answered"
