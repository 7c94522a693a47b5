"""What holds for every test of this repository."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

# What no installation can give a machine; everything else that is skipped in CI is an error there.
NOT_TO_BE_HAD = (
    "only root can",
    "only the superuser",
    "this machine does not",
    "this bubblewrap cannot",
    "the system's",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets no test go unrun in CI: a service or jail that is missing there is a fault of ``.ci/run``."""
    report = yield
    reason: Any = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    skipped = report.skipped and not hasattr(report, "wasxfail")
    if skipped and os.environ.get("CI") and not any(known in reason for known in NOT_TO_BE_HAD):
        report.outcome = "failed"
        report.longrepr = f"in CI no test may be skipped: {reason}"
    return report
