"""The conformance suite of graph formats. A third party subclasses :class:`FormatSuite` and names its provider.

Example:
    class TestMyFormat(FormatSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.errors import KgotError
from kgot_core.graph.elements import GraphSnapshot
from kgot_core.graph.losses import Losses
from kgot_core.graph.same import unlike
from kgot_core.graph.soundness import faults
from kgot_core.providers import FOLDER, FormatProvider
from kgot_core.testing.graphs import ANYTHING, Vocabulary, make_graph
from kgot_core.testing.suite import Suite, check_clean, check_provider, ready

SEEDS = range(20)
_DAMAGED = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00\x01",
    "a word": b"Quillmark",
    "an open bracket": b'{"nodes": [',
    "an open tag": b"<?xml version='1.0'?><graph><node",
    "a list of nothing": b"[null]",
    "a thousand brackets": b"[" * 100_000,
}


class FormatSuite(Suite):
    """What every file format of graphs does.

    Attributes:
        provider: The provider under test.
        settings: Its settings; the defaults where ``None``.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings"})
    provider: ClassVar[FormatProvider | None] = None
    settings: ClassVar[Any] = None

    @pytest.fixture
    def given(self) -> FormatProvider:
        """Gives the provider."""
        if self.provider is None:
            raise NotImplementedError("set provider")
        return self.provider

    @pytest.fixture
    def values(self, given: FormatProvider) -> Any:
        """Gives its settings."""
        return ready(given, self.settings)

    def test_provider_is_complete(self, given: FormatProvider) -> None:
        check_provider(given)
        assert given.read is not None or given.write is not None, "a format can be read or written: give one function"
        for suffix in given.suffixes:
            assert suffix == FOLDER or re.fullmatch(r"\.[^A-Z/]+", suffix), (
                f"the ending {suffix!r} has a dot first and no capitals, or is {FOLDER!r} for a folder"
            )

    @pytest.mark.parametrize("kind", ["plain", "odd"])
    def test_graphs_come_back_or_the_loss_is_told(
        self, given: FormatProvider, values: Any, tmp_path: Path, kind: str
    ) -> None:
        words = Vocabulary() if kind == "plain" else ANYTHING
        for seed in SEEDS:
            graph, losses = make_graph(seed, words), Losses()
            found = _there_and_back(given, values, graph, tmp_path / f"{seed}", losses)
            if found is None:
                continue
            assert not faults(found), f"reading make_graph({seed}, ...) gives no sound graph: {faults(found)}"
            lines = unlike(graph, found)
            assert not lines or losses, (
                f"make_graph({seed}, ...) came back changed, and losses.add was not called: {'; '.join(lines[:4])}"
            )
            for line in losses.lines():
                assert "\n" not in line, f"a loss is told in one line: {line!r}"

    def test_empty_graph(self, given: FormatProvider, values: Any, tmp_path: Path) -> None:
        losses = Losses()
        found = _there_and_back(given, values, GraphSnapshot(), tmp_path / "empty", losses)
        assert found in (None, GraphSnapshot()), f"an empty graph must come back empty, not as {found}"
        assert not losses, f"an empty graph has nothing to lose: {losses.lines()}"

    def test_writes_where_it_is_told_and_nowhere_else(self, given: FormatProvider, values: Any, tmp_path: Path) -> None:
        if given.write is None:
            return
        for path in _paths(given, tmp_path):
            given.write(values, make_graph(1, Vocabulary()), path, Losses())
            assert [item.name for item in path.parent.iterdir()] == [path.name], "write makes what its path says, only"
            if given.text and path.is_file():
                path.read_bytes().decode()

    @pytest.mark.parametrize("what", list(_DAMAGED))
    def test_damaged_file_is_refused_in_one_line(
        self, given: FormatProvider, values: Any, tmp_path: Path, what: str
    ) -> None:
        if given.read is None:
            return
        for path in _paths(given, tmp_path):
            path.write_bytes(_DAMAGED[what])
            try:
                found = given.read(values, path, Losses())
            except KgotError as error:
                check_clean(error.message.replace(str(tmp_path), ""), f"reading {what}")
                assert "\n" not in error.message, f"reading {what}: the error is one line: {error.message!r}"
            except UnicodeDecodeError:
                # The core says that the file is no text.
                assert what == "no text", f"reading {what}: raise UsageError with the cause"
            except Exception as error:
                pytest.fail(f"reading {what}: raise UsageError with the cause, not {error!r}")
            else:
                assert found == GraphSnapshot(), f"reading {what} must raise UsageError, or give no element: {found}"


def _paths(provider: FormatProvider, folder: Path) -> Iterator[Path]:
    for number, suffix in enumerate(provider.suffixes or ("",)):
        (folder / str(number)).mkdir(parents=True, exist_ok=True)
        yield folder / str(number) / f"graph{suffix}".rstrip(FOLDER)


def _there_and_back(
    provider: FormatProvider, settings: Any, graph: GraphSnapshot, folder: Path, losses: Losses
) -> GraphSnapshot | None:
    """Writes and reads a graph; ``None`` where the format cannot do both."""
    path = next(_paths(provider, folder))
    if provider.write is not None:
        provider.write(settings, graph, path, losses)
        assert path.exists(), "write makes the file that its path names"
    if provider.write is None or provider.read is None:
        return None
    return provider.read(settings, path, losses)
