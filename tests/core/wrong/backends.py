"""Makes test classes of backends with faults, by the suite of backends."""

from __future__ import annotations

from typing import ClassVar

import pytest

from kgot_core.testing.backend_suite import BackendSuite, OpenBackend
from kgot_core.testing.memory_backend import ENDLESS, MemoryBackend, MemoryStore


class Wrong(BackendSuite):
    """The suite on a backend with a fault."""

    endless = ENDLESS
    keeps_graph = True
    patience = 1.0
    backend: ClassVar[type[MemoryBackend]]

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        store = MemoryStore()
        return lambda context: self.backend(context, store)


def of_backends(module):
    """Adds a test class for each class of a module that says which test is ``meant`` for it; gives the tests."""
    faults = {name: thing for name, thing in module.items() if isinstance(thing, type) and hasattr(thing, "meant")}
    for name, thing in faults.items():
        module[f"Test{name}"] = type(f"Test{name}", (Wrong,), {"backend": thing, "__module__": module["__name__"]})
    return {name: thing.meant for name, thing in faults.items()}
