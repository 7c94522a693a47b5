"""Makes the helper modules beside this file known to the tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def kit() -> ModuleType:
    """The module ``loop_kit.py``."""
    return _load("loop_kit")


@pytest.fixture(scope="session")
def processes() -> ModuleType:
    """The module ``kit_processes.py``."""
    return _load("kit_processes")


def _load(name: str) -> ModuleType:
    path = Path(__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"kgot_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
