"""Makes the helper module of the loop's tests known to them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def kit() -> ModuleType:
    """The module ``loop_kit.py`` beside this file."""
    path = Path(__file__).parent / "loop_kit.py"
    spec = importlib.util.spec_from_file_location("kgot_loop_kit", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
