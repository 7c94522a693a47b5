"""The embedded backend keeps the contract of all backends."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from kgot_core.contracts.sandbox import Sandbox
from kgot_core.sandboxes.providers import MONTY, MontySettings
from kgot_core.testing.backend_suite import BackendSuite
from kgot_rdf.plugin import kgot_graph_backends


class TestEmbedded(BackendSuite):
    provider: ClassVar[Any] = next(provider for provider in kgot_graph_backends() if provider.name == "rdf")
    reuse = True
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?s . ?t ?u ?v }"

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        return MONTY.open(MontySettings())
