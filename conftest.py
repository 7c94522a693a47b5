"""What holds for every test of this repository."""

from __future__ import annotations

import contextlib
import getpass
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

SERVERS = Path(__file__).parent / "tests" / "servers"

# What no installation can give a machine; everything else that is skipped in CI is an error there.
NOT_TO_BE_HAD = (
    "only root can",
    "only the superuser",
    "this machine does not",
    "this bubblewrap cannot",
    "the system's",
)


def pytest_configure(config: pytest.Config) -> None:
    """Keeps tests from putting a key into the tester's own config folder, and sets how hard Hypothesis tries."""
    os.environ["XDG_CONFIG_HOME"] = str(Path(tempfile.gettempdir()) / f"kgot-tests-{getpass.getuser()}")
    # Time is measured in benchmarks, so no example has a deadline: it would fail on a busy machine.
    settings.register_profile("kgot", deadline=None, max_examples=100 if os.environ.get("CI") else 25)
    settings.load_profile("kgot")


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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, without the tester's own settings and keys."""
    for name in [name for name in os.environ if name.startswith(("KGOT_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def launcher() -> Callable[[str], ModuleType]:
    """Gives a function that loads a module of ``tests/servers``, once."""

    def load(name: str) -> ModuleType:
        known = f"kgot_tests_{name}"
        if known not in sys.modules:
            spec = importlib.util.spec_from_file_location(known, SERVERS / f"{name}.py")
            assert spec is not None and spec.loader is not None
            sys.modules[known] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        return sys.modules[known]

    return load


@pytest.fixture(scope="session")
def or_skip() -> Callable[[type[Exception], Callable[[], Any]], Any]:
    """Gives a function that runs another, and skips the test where that cannot be had on this machine."""

    def run(missing: type[Exception], function: Callable[[], Any]) -> Any:
        try:
            return function()
        except missing as error:
            pytest.skip(f"a server that this test needs is missing: {error}")

    return run


@pytest.fixture(scope="session")
def docker_settings(launcher: Callable[[str], ModuleType]) -> Iterator[Any]:
    """Gives the settings of the sandbox ``docker`` for a real engine with its image, started once a process.

    What uses it is marked with ``xdist_group("docker")``, so that one process of a test run needs it.
    """
    engine = launcher("docker_engine")
    with contextlib.ExitStack() as stack:
        try:
            settings = stack.enter_context(engine.running())
        except engine.NotHere as reason:
            pytest.skip(f"no Docker engine: {reason}")
        yield settings


@pytest.fixture(scope="session")
def sarus_settings(tmp_path_factory: pytest.TempPathFactory, launcher: Callable[[str], ModuleType]) -> Any:
    """Gives the settings of the sandbox ``sarus`` for a stand-in of its command."""
    command = launcher("sarus_command")
    try:
        return command.prepare(tmp_path_factory.mktemp("sarus"))
    except command.NotHere as reason:
        pytest.skip(str(reason))
