"""The conformance suite of event sinks. A third party subclasses :class:`SinkSuite` and names its provider.

Example:
    class TestMySink(SinkSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from kgot_core.contracts.sink import Sink
from kgot_core.providers import SinkProvider
from kgot_core.strategies.kgot_loop import KGoTLoop
from kgot_core.testing.runs import try_strategy
from kgot_core.testing.suite import Suite, check_provider, ready

OpenSink: TypeAlias = Callable[[Mapping[str, Any]], Sink]


class SinkSuite(Suite):
    """What every sink does, told the events of a real run.

    Attributes:
        provider: The provider under test; or give the fixture ``open_sink``, a function of the run's id and folder.
        settings: Its settings; the defaults where ``None``.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings", "open_sink"})
    provider: ClassVar[SinkProvider | None] = None
    settings: ClassVar[Any] = None

    @pytest.fixture
    def open_sink(self) -> OpenSink:
        """Gives a function that opens the sink under test for a run."""
        provider = self.provider
        if provider is None:
            raise NotImplementedError("set provider, or give a fixture 'open_sink' that returns a function")
        settings = ready(provider, self.settings)
        return lambda run: provider.open(settings, run)

    @pytest.fixture
    def records(self) -> Sequence[Mapping[str, Any]]:
        """Gives the events of a run."""
        return try_strategy(KGoTLoop()).records

    def test_is_a_sink(self, open_sink: OpenSink) -> None:
        sink = open_sink({"run": "suite", "folder": None})
        assert isinstance(sink, Sink), "open gives a kgot_core.contracts.sink.Sink"
        sink.close()
        if self.provider is not None:
            check_provider(self.provider)

    @pytest.mark.parametrize("on_disk", [True, False], ids=["with folder", "in memory"])
    def test_takes_every_event(
        self, open_sink: OpenSink, records: Sequence[Mapping[str, Any]], tmp_path: Path, on_disk: bool
    ) -> None:
        sink = open_sink({"run": "suite", "folder": tmp_path if on_disk else None})
        for record in records:
            given = copy.deepcopy(dict(record))
            try:
                sink.emit(given)
            except Exception as error:
                pytest.fail(f"emit must take every event, but {record['kind']} raised {error!r}")
            assert given == record, f"emit changed the record of {record['kind']}: other sinks get it too"
        sink.close()

    def test_takes_events_that_it_does_not_know(self, open_sink: OpenSink) -> None:
        sink = open_sink({"run": "suite", "folder": None})
        try:
            sink.emit({"run": "suite", "seq": 1, "at": 0.5, "step": "", "kind": "another-package:new", "more": [None]})
        except Exception as error:
            pytest.fail(f"a kind that is not known must be passed over, it raised {error!r}")
        sink.close()

    def test_close_twice(self, open_sink: OpenSink) -> None:
        sink = open_sink({"run": "suite", "folder": None})
        sink.close()
        try:
            sink.close()
        except Exception as error:
            pytest.fail(f"close is idempotent, but the second one raised: {error!r}")
