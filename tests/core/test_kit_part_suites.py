"""Each part with a fault fails the tests that are meant for it, and no other."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent
failures = runpy.run_path(str(HERE / "kit_running.py"))["failures"]


@pytest.mark.parametrize("parts", ["deciding", "running", "models", "tools", "formats"])
def test_each_fault_fails_the_tests_that_are_meant_for_it_and_no_other(parts, tmp_path):
    wrong = HERE / "wrong" / f"{parts}.py"
    failed = failures(wrong, tmp_path)
    faults = runpy.run_path(str(wrong))["FAULTS"]
    meant = {name: {f"test_{part}" for part in _split(tests)} for name, tests in faults.items()}
    assert {name: set(found) for name, found in failed.items()} == meant
    silent = [said for found in failed.values() for said in found.values() if len(said.splitlines()[0]) <= 40]
    assert not silent, "a failure says what to check"


def _split(meant: str) -> list[str]:
    """Splits names of tests, whose parameters may hold spaces."""
    return [part.strip() for part in meant.split("test_") if part.strip()]
