"""Each backend with a fault fails the test that is meant for it, and no other; and the suite cannot be weakened."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kgot_core.testing.backend_suite import BackendSuite
from kgot_core.testing.suite import SuiteChanged

WRONG = Path(__file__).with_name("kit_wrong_backends.py")
FAULTS = runpy.run_path(str(WRONG))["FAULTS"]


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Runs the suite on every fault, and gives the tests that failed by fault, with what they say."""
    report = tmp_path_factory.mktemp("report") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="]
    command += [
        "--import-mode=importlib",
        "-o",
        "python_files=kit_*.py",
        f"--junitxml={report}",
        "--tb=line",
        str(WRONG),
    ]
    subprocess.run(command, capture_output=True, timeout=300, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for case in ElementTree.parse(report).iter("testcase"):
        fault = case.attrib["classname"].rpartition(".Test")[2]
        for problem in (*case.findall("failure"), *case.findall("error")):
            found[fault][case.attrib["name"]] = problem.attrib["message"]
        if case.find("skipped") is None:
            found[fault].setdefault("", "ran")
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_fails_the_test_that_is_meant_for_it_and_no_other(failed, name):
    assert failed[name].pop("") == "ran"
    assert set(failed[name]) == {FAULTS[name].meant}
    assert len(next(iter(failed[name].values())).splitlines()[0]) > 40, "a failure says what to check"


def test_every_test_of_the_suite_has_a_fault():
    tests = {name for name in dir(BackendSuite) if name.startswith("test_")} - {"test_provider_is_complete"}
    assert {fault.meant.partition("[")[0] for fault in FAULTS.values()} == tests


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
