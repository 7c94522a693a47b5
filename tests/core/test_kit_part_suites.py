"""Each part with a fault fails the tests that are meant for it, and no other."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WRONG = HERE / "kit_wrong_parts.py"
failures = runpy.run_path(str(HERE / "kit_running.py"))["failures"]
FAULTS = runpy.run_path(str(WRONG))["FAULTS"]


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Runs the suites on every fault."""
    return failures(WRONG, tmp_path_factory.mktemp("report"))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_fails_the_tests_that_are_meant_for_it_and_no_other(failed, name):
    assert set(failed[name]) == {f"test_{part}" for part in _split(FAULTS[name])}
    for said in failed[name].values():
        assert len(said.splitlines()[0]) > 40, "a failure says what to check"


def _split(meant: str) -> list[str]:
    """Splits names of tests, whose parameters may hold spaces."""
    return [part.strip() for part in meant.split("test_") if part.strip()]
