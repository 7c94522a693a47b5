"""Each part with a fault fails the tests that are meant for it, and no other."""

from __future__ import annotations

import runpy
from pathlib import Path

HERE = Path(__file__).parent
WRONG = HERE / "kit_wrong_parts.py"
failures = runpy.run_path(str(HERE / "kit_running.py"))["failures"]
FAULTS = runpy.run_path(str(WRONG))["FAULTS"]


def test_each_fault_fails_the_tests_that_are_meant_for_it_and_no_other(tmp_path):
    failed = failures(WRONG, tmp_path)
    meant = {name: {f"test_{part}" for part in _split(tests)} for name, tests in FAULTS.items()}
    assert {name: set(found) for name, found in failed.items()} == meant
    silent = [said for found in failed.values() for said in found.values() if len(said.splitlines()[0]) <= 40]
    assert not silent, "a failure says what to check"


def _split(meant: str) -> list[str]:
    """Splits names of tests, whose parameters may hold spaces."""
    return [part.strip() for part in meant.split("test_") if part.strip()]
