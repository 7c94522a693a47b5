"""A disk that is full and an output that takes nothing: one clear line, and never a trace."""

from __future__ import annotations

import contextlib
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
QUESTION = runpy.run_path(str(FIXTURES / "story.py"))["QUESTION"]
_command = runpy.run_path(str(FIXTURES / "command.py"))
kgot, program = _command["kgot"], _command["program"]
_refusing = runpy.run_path(str(FIXTURES / "refusing.py"))
address, refused, run = (_refusing[name] for name in ("address", "refused", "run"))


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 48 KiB."""
    place = folder / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only the superuser of Linux can mount a small disk")
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this machine does not let a test mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small_disk: Path, address: str) -> None:
    with contextlib.suppress(OSError):
        (small_disk / "other").write_bytes(bytes(1 << 20))
    code, line, hint = refused(*run(address, QUESTION, "--out", str(small_disk / "runs")))
    assert ("No space left on device" in line and "--out" in line + hint) or "runs_dir" in line + hint
    assert code in (1, 2)


def test_a_disk_that_fills_up_during_the_run(small_disk: Path, address: str) -> None:
    with contextlib.suppress(OSError):
        (small_disk / "other").write_bytes(bytes(30 * 1024))
    code, line, _hint = refused(*run(address, QUESTION, "--out", str(small_disk / "runs")))
    assert code == 1 and "No space left on device" in line and "runs_dir" in line
    (made,) = (small_disk / "runs").iterdir()
    assert (made / "events.jsonl").read_bytes().startswith(b'{"run":')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_answer_that_cannot_be_printed_is_no_trace(address: str, folder: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        process = program(run(address, QUESTION), folder, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=60)
    assert process.returncode != 0 and "Traceback" not in err, err
    assert "No space left on device" in err


def test_a_reader_that_leaves_early_is_no_fault(address: str, folder: Path) -> None:
    assert kgot(*run(address, QUESTION)).exit_code == 0
    process = program(["show", "last", "--events"], folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(60) != 0 and "Traceback" not in err and "Exception ignored" not in err, err
