"""The conformance suite of graph backends. A third party subclasses :class:`BackendSuite` and gives one fixture.

Example:
    class TestMyBackend(BackendSuite):
        @pytest.fixture
        def open_backend(self) -> OpenBackend:
            return lambda context: MyBackend(MySettings(), context)
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from kgot_core.contracts.backend import GraphBackend, GraphScope, OpenContext
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.errors import StoreUnavailable
from kgot_core.providers import BackendProvider
from kgot_core.sandboxes.providers import MONTY
from kgot_core.testing.backend_applying import ApplyTests
from kgot_core.testing.backend_driver import EMPTY, Driver, OpenBackend
from kgot_core.testing.backend_opening import OpeningTests
from kgot_core.testing.backend_querying import QueryTests
from kgot_core.testing.backend_statements import StatementTests
from kgot_core.testing.suite import check_provider, ready

_SHARED = pytest.StashKey[list[Driver]]()
_AWAY = pytest.StashKey[list[str]]()

__all__ = ["BackendSuite", "Driver", "OpenBackend", "Opener"]


@dataclass
class Opener:
    """Opens graphs of the backend under test, each in a scope of its own unless one is named."""

    function: OpenBackend
    sandbox: Sandbox
    folder: Path
    token: str = field(default_factory=lambda: secrets.token_hex(4))
    opened: list[GraphBackend] = field(default_factory=list)
    away: list[str] = field(default_factory=list)

    def __call__(
        self, scope: str = "", mode: Literal["new", "keep", "read_only"] = "new", resume: bool = False
    ) -> Driver:
        name = scope or f"graph-{len(self.opened)}"
        folder = self.folder / f"suite-{self.token}" / name
        folder.mkdir(parents=True, exist_ok=True)
        context = OpenContext(GraphScope(f"suite-{self.token}-{name}", mode), self.sandbox, folder, resume)
        assert not self.away, f"not tried again, the store was not to be reached: {self.away[0]}"
        try:
            backend = self.function(context)
        except StoreUnavailable as error:
            self.away.append(str(error))
            raise
        assert isinstance(backend, GraphBackend), "open gives a kgot_core.contracts.backend.GraphBackend"
        self.opened.append(backend)
        return Driver(backend, f"suite-{self.token}-{len(self.opened)}")


class BackendSuite(StatementTests, QueryTests, ApplyTests, OpeningTests):
    """What every graph backend does. The statements are the examples of its own dialect.

    Give the fixture ``open_backend``, or set ``provider`` (and ``settings``).

    Attributes:
        provider: The provider under test, in place of the fixture.
        settings: Its settings; the defaults where ``None``.
        keeps_graph: Whether a graph is there again when its scope is opened with ``keep`` after it was closed;
            ``None`` accepts both, but nothing in between.
        refused_values: Names of values (in :mod:`kgot_core.testing.graphs`) that the store refuses, with the reason;
            ``None`` accepts that any rare value is refused. Plain values cannot be refused.
        endless: A query that never ends on the graph of the examples, for the test of ``cancel``; empty where the
            language cannot say one.
        several_rows: A query that gives two rows or more on the graph of the examples, for the test of the row limit;
            needed where no example of the dialect does.
        patience: Seconds that a cancelled call may take to end, at most.
        reuse: One open backend may serve several tests, emptied in between: for stores that are slow to open.
    """

    open_to: ClassVar[frozenset[str]] = frozenset(
        {
            "open_backend",
            "provider",
            "settings",
            "sandbox",
            "keeps_graph",
            "refused_values",
            "endless",
            "several_rows",
            "patience",
            "reuse",
        }
    )
    provider: ClassVar[BackendProvider | None] = None
    settings: ClassVar[Any] = None
    keeps_graph: ClassVar[bool | None] = None
    refused_values: ClassVar[Mapping[str, str] | None] = None
    endless: ClassVar[str] = ""
    several_rows: ClassVar[str] = ""
    patience: ClassVar[float] = 10.0
    reuse: ClassVar[bool] = False

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        """Gives a function that opens the backend under test."""
        provider = self.provider
        if provider is None:
            raise NotImplementedError(
                "give a fixture 'open_backend' that returns a function: OpenContext -> GraphBackend"
            )
        settings = ready(provider, self.settings)
        return lambda context: provider.open(settings, context)

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        """Gives the sandbox in which a backend may run scripts."""
        return MONTY.open(MONTY.settings())

    @pytest.fixture
    def opener(
        self,
        request: pytest.FixtureRequest,
        open_backend: OpenBackend,
        sandbox: Sandbox,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> Opener:
        """Gives a function that opens graphs; a store that was not to be reached once is not waited for again."""
        away = request.node.getparent(pytest.Class).stash.setdefault(_AWAY, [])
        return Opener(open_backend, sandbox, tmp_path_factory.getbasetemp(), away=away)

    @pytest.fixture
    def open_graph(self, opener: Opener) -> Iterator[Callable[..., Driver]]:
        """Opens graphs, and closes them after the test."""
        yield opener
        for backend in reversed(opener.opened):
            with contextlib.suppress(Exception):  # closing has a test of its own
                backend.close()

    @pytest.fixture
    def graph(self, request: pytest.FixtureRequest, opener: Opener) -> Driver:
        """Gives an empty open graph."""
        if not self.reuse:
            driver: Driver = request.getfixturevalue("open_graph")()
            return driver
        owner = request.node.getparent(pytest.Class)
        shared: list[Driver] = owner.stash.setdefault(_SHARED, [])
        if shared:
            shared[0].empty()
            if shared[0].snapshot != EMPTY:
                shared.pop().backend.close()
        if not shared:
            shared.append(opener())
            owner.addfinalizer(shared[0].backend.close)
        return shared[0]

    def test_provider_is_complete(self) -> None:
        if self.provider is not None:
            check_provider(self.provider)
