"""Each backend with a fault fails the test that is meant for it, and no other; and the suite cannot be weakened."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kgot_core.testing.backend_suite import BackendSuite
from kgot_core.testing.suite import SuiteChanged

HERE = Path(__file__).parent
failures = runpy.run_path(str(HERE / "kit_running.py"))["failures"]
WRONG = sorted((HERE / "wrong").glob("backends_*.py"))
FAULTS = [fault for file in WRONG for fault in runpy.run_path(str(file))["FAULTS"].items()]


def test_each_fault_fails_the_test_that_is_meant_for_it_and_no_other(tmp_path):
    failed = failures(WRONG, tmp_path)
    assert len(dict(FAULTS)) == len(FAULTS), "each fault has a name of its own"
    assert {name: set(found) for name, found in failed.items()} == {name: {meant} for name, meant in FAULTS}
    silent = [said for found in failed.values() for said in found.values() if len(said.splitlines()[0]) <= 40]
    assert not silent, "a failure says what to check"


def test_every_test_of_the_suite_has_a_fault():
    tests = {name for name in dir(BackendSuite) if name.startswith("test_")} - {"test_provider_is_complete"}
    assert {meant.partition("[")[0] for _, meant in FAULTS} == tests


def test_a_test_cannot_be_changed_without_a_reason():
    class Mixin:
        def test_rows_are_limited(self) -> None:
            """Checks nothing."""

    weakened = [
        lambda: type("TestA", (BackendSuite,), {"test_rows_are_limited": None}),
        lambda: type("TestB", (Mixin, BackendSuite), {}),
        lambda: type("TestC", (BackendSuite,), {"graph": None}),
        lambda: type("TestD", (BackendSuite,), {"__test__": False}),
        lambda: type("TestE", (Mixin, BackendSuite), {"changed_tests": {"test_rows_are_limited": " "}}),
        lambda: type("TestF", (BackendSuite,), {"changed_tests": {"test_rows_are_limited": "no reason to"}}),
        lambda: type("TestG", (type("Own", (BackendSuite,), {}),), {"test_ids_stay": None}),
    ]
    for make in weakened:
        with pytest.raises(TypeError, match="reason"):
            make()


def test_a_change_with_a_reason_is_shown():
    reason = {"test_rows_are_limited": "the server limits rows itself"}
    with pytest.warns(SuiteChanged, match="the server limits rows itself"):
        type("TestA", (BackendSuite,), {"test_rows_are_limited": None, "changed_tests": reason})


def test_what_is_open_needs_no_reason(recwarn):
    type("TestA", (BackendSuite,), {"endless": "x", "keeps_graph": True, "open_backend": None, "own_test": 1})
    assert not recwarn
