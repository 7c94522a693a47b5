"""Runs files of faulty parts by pytest in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree


def failures(files: Iterable[Path], folder: Path) -> dict[str, dict[str, str]]:
    """Gives the tests that failed by test class (without ``Test``), with what they say; only classes that ran."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=short"]
    command += ["--import-mode=importlib", f"--junitxml={report}", *map(str, files)]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert report.exists(), done.stdout + done.stderr
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for case in ElementTree.parse(report).iter("testcase"):
        fault = case.attrib["classname"].rpartition(".Test")[2]
        if case.find("skipped") is None:
            found[fault]
        for problem in (*case.findall("failure"), *case.findall("error")):
            found[fault][case.attrib["name"]] = problem.attrib["message"]
    return found
