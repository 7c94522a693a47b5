"""The backend keeps the contract of all backends, in both sandboxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.sandbox import Sandbox
from kgot_core.testing.backend_suite import BackendSuite
from kgot_networkx.plugin import kgot_graph_backends


class NetworkxSuite(BackendSuite):
    provider: ClassVar[Any] = next(iter(kgot_graph_backends()))
    keeps_graph = False
    refused_values: ClassVar[dict[str, str]] = {}
    endless = "while True:\n    pass"
    reuse = True


class TestInFullPython(NetworkxSuite):
    @pytest.fixture
    def sandbox(self, sandbox_of: Callable[[str], Sandbox]) -> Sandbox:
        return sandbox_of("bwrap")


class TestInTheSubset(NetworkxSuite):
    @pytest.fixture
    def sandbox(self, sandbox_of: Callable[[str], Sandbox]) -> Sandbox:
        return sandbox_of("monty")
