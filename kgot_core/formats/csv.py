"""CSV: nodes.csv and edges.csv in a folder or a zip, with the headers of ``neo4j-admin database import``."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kgot_core.errors import UsageError
from kgot_core.formats.csv_kinds import READERS, cell, kind_of, read_cell
from kgot_core.graph.elements import Element, GraphSnapshot
from kgot_core.graph.flat import TEXT, FlatForm, Row, column_kinds
from kgot_core.graph.ids import Ids
from kgot_core.graph.losses import Losses
from kgot_core.graph.values import Value

T = TypeVar("T")
NODES, EDGES = "nodes.csv", "edges.csv"
_ID, _LABEL, _START, _END, _TYPE = ":ID", ":LABEL", ":START_ID", ":END_ID", ":TYPE"


def write_csv(settings: Any, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes the two tables into a new folder, or a zip where the path ends so."""
    texts = {
        NODES: _text(graph.nodes, (_ID,), _LABEL, [(node.id,) for node in graph.nodes]),
        EDGES: _text(graph.edges, (_START, _END), _TYPE, [(edge.source, edge.target) for edge in graph.edges]),
    }
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in texts.items():
                # Without the time, so that the same graph is the same file.
                file.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
        return
    path.mkdir()
    for name, text in texts.items():
        (path / name).write_text(text, encoding="utf-8", newline="")


def read_csv(settings: Any, path: Path, losses: Losses) -> GraphSnapshot:
    """Reads the two tables from a folder or a zip, our own or made for Neo4j.

    Raises:
        UsageError: One is missing or cannot be read; the message says where.
    """
    tables = [_Table(path, NODES, (_ID,), _LABEL, losses), _Table(path, EDGES, (_START, _END), _TYPE, losses)]
    nodes = tuple(tables[0].read(lambda form, ends, row: form.node(ends[0], row)))
    ids = Ids()
    for node in nodes:
        ids.give(node.id, "n")
    edges = tables[1].read(lambda form, ends, row: form.edge(ids.give("", "e"), ends[0], ends[1], row))
    return GraphSnapshot(nodes, tuple(edges))


class _Table:
    """One table on its way in."""

    def __init__(self, path: Path, name: str, ends: tuple[str, ...], words: str, losses: Losses) -> None:
        self._where, self._ends, self._words, self._losses = f"{path}: {name}", ends, words, losses
        header, *self._lines = _parsed(_load(path, name), self._where) or [[]]
        self._columns = [_column(title) for title in header]
        if missing := [end for end in ends if end not in (kind for _, kind in self._columns)]:
            raise UsageError(
                f"{self._where} has no column {' and '.join(missing)}",
                hint="the headers are those of neo4j-admin database import: docs/graph-formats.md",
            )
        self._form = _form(words, {name: kind for name, kind in self._columns if name})

    def read(self, make: Callable[[FlatForm, Sequence[str], Row], T]) -> Iterator[T]:
        """Makes an element of each line."""
        for number, line in enumerate(self._lines, start=1):
            try:
                ends, row = self._row(line)
                yield make(self._form, ends, row)
            except ValueError as error:
                raise UsageError(f"{self._where}, row {number}: {error}") from None

    def _row(self, line: Sequence[str]) -> tuple[list[str], Row]:
        if len(line) != len(self._columns):
            raise ValueError(f"{len(line)} cells, not {len(self._columns)} as in the header")
        row: Row = {}
        ends: dict[str, str] = {}
        for (name, kind), text in zip(self._columns, line, strict=True):
            if kind == ":IGNORE":
                self._losses.add("a column that is to be ignored is left out", name)
                continue
            if kind in self._ends:
                ends[kind] = text
            if kind == self._words:
                row[kind] = text
            elif name and text:
                row[name] = read_cell(text, TEXT if kind in self._ends else kind)
        if not row.get(self._words, "x"):
            del row[self._words]
        return [ends[end] for end in self._ends], row


def _parsed(text: str, where: str) -> list[list[str]]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        return [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    except csv.Error as error:
        raise UsageError(f"{where} is no CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _load(path: Path, name: str) -> str:
    try:
        if path.is_dir():
            return (path / name).read_bytes().decode("utf-8-sig")
        with zipfile.ZipFile(path) as file:
            return file.read(name).decode("utf-8-sig")
    except (KeyError, FileNotFoundError):
        raise UsageError(f"{path} has no {name}", hint=f"a graph as CSV is {NODES} and {EDGES}") from None
    except zipfile.BadZipFile:
        raise UsageError(
            f"{path} is no zip", hint=f"a graph as CSV is a folder or a zip with {NODES} and {EDGES}"
        ) from None


def _column(title: str) -> tuple[str, str]:
    """Gives a column's property, empty where it is none, and its type."""
    plain = title.partition("{")[0] if title.endswith("}") else title
    name, colon, kind = plain.rpartition(":")
    bare = kind.partition("(")[0]
    if colon and f":{bare.upper()}" in (_ID, _LABEL, _START, _END, _TYPE, ":IGNORE"):
        return name, f":{bare.upper()}"
    if colon and name and bare.lower().removesuffix("[]") in READERS:
        return name, bare
    return title, TEXT


def _form(words: str, kinds: Mapping[str, str]) -> FlatForm:
    def holds(name: str, value: Value) -> bool:
        return kind_of(value) == (TEXT if name == words else kinds.get(name, TEXT))

    return FlatForm(words, holds, lambda name: bool(name) and name[0] != ":" and not set(name) & set("\r\n\0"))


def _text(elements: Sequence[Element], heads: tuple[str, ...], words: str, ends: Sequence[tuple[str, ...]]) -> str:
    kinds = column_kinds((element.properties for element in elements), kind_of)
    form = _form(words, kinds)
    rows = [form.row(element) for element in elements]
    names = sorted({name for row in rows for name in row} - {words})
    titles = [
        name if kinds.get(name, TEXT) == TEXT and ":" not in name else f"{name}:{kinds.get(name, 'string')}"
        for name in names
    ]
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow([*heads, words, *titles])
    for end, row in zip(ends, rows, strict=True):
        writer.writerow([*end, *("" if name not in row else cell(row[name]) for name in (words, *names))])
    return made.getvalue()
