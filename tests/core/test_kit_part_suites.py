"""Each part with a fault fails the tests that are meant for it, and no other."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent
failures = runpy.run_path(str(HERE / "kit_running.py"))["failures"]


# In two processes, since each of them imports all that the suites need.
@pytest.mark.parametrize("kinds", [("deciding", "formats"), ("running", "models", "tools")], ids="-".join)
def test_each_fault_fails_the_tests_that_are_meant_for_it_and_no_other(kinds, tmp_path):
    files = [HERE / "wrong" / f"{kind}.py" for kind in kinds]
    failed = failures(files, tmp_path)
    faults = [fault for file in files for fault in runpy.run_path(str(file))["FAULTS"].items()]
    meant = {name: {f"test_{part}" for part in _split(tests)} for name, tests in faults}
    assert len(meant) == len(faults), "each fault has a name of its own"
    assert {name: set(found) for name, found in failed.items()} == meant
    silent = [said for found in failed.values() for said in found.values() if len(said.splitlines()[0]) <= 40]
    assert not silent, "a failure says what to check"


def _split(meant: str) -> list[str]:
    """Splits names of tests, whose parameters may hold spaces."""
    return [part.strip() for part in meant.split("test_") if part.strip()]
