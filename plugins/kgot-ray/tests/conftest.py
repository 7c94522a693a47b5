"""A desk at which the model's requests wait, and the command of a batch."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _helpers() -> ModuleType:
    name = "kgot_ray_tests_command"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("command.py"))
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture
def helpers() -> ModuleType:
    return _helpers()


@pytest.fixture
def desk(helpers) -> Iterator[Any]:
    # A short path, as that of a socket has to be.
    with tempfile.TemporaryDirectory(prefix="kgot-ray-") as folder:
        desk = helpers.Desk(Path(folder))
        yield desk
        desk.close()


@pytest.fixture
def command(helpers, desk, tmp_path) -> Iterator[Any]:
    command = helpers.Command(tmp_path, desk.door)
    yield command
    command.close()
