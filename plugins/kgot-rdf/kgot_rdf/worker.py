"""The child process that holds the embedded store. It keeps nothing that the host could not give it again."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from kgot_core.errors import QueryError
from kgot_rdf import notes
from kgot_rdf.reasoning import INFERRED, Reasoner, Violation, open_reasoner
from kgot_rdf.triple_terms import text_of
from kgot_rdf.wire import receive, send

MOST_CHARS = 4_000_000
MOST_TRIPLES = 200_000


class Worker:
    """One store, and what it is asked.

    Args:
        options: The reasoner's files and settings, the folder of the durable copy, whether that is only read, and
            whether its run goes on, so that the note of the last call stays.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._store = ox.Store()
        self._only_read = bool(options.get("only_read"))
        self._kept = _open(Path(options["folder"]), self._only_read) if options.get("folder") else None
        if self._kept is not None and not self._only_read and not options.get("goes_on"):
            self._kept.clear_graph(ox.NamedNode(notes.EMBEDDED))
        self._reasoner: Reasoner | None = open_reasoner(options)
        self._derived: set[tuple[str, str, str]] = set()

    def kept(self, request: Mapping[str, Any]) -> Any:
        """Gives what the folder holds; one that is only read is let go of at once."""
        found = [_texts(quad) for quad in _stated(self._kept)] if self._kept is not None else []
        if self._only_read:
            self._kept = None
        return found

    def noted(self, request: Mapping[str, Any]) -> Any:
        """Gives the call that is noted with what the folder holds."""
        if self._kept is None:
            return []
        found: Any = self._kept.query(notes.asked(notes.EMBEDDED))
        return [row["call"].value for row in found]

    def load(self, request: Mapping[str, Any]) -> Any:
        """Takes a whole graph in, in the place of what is there."""
        self._store.clear()
        stated = _quads(request["stated"])
        self._store.extend(stated)
        self._derived = set(map(tuple, request["inferred"]))
        self._store.extend(_inferred_quads(self._derived))
        if self._only_read:
            self._kept = None
        if self._kept is not None:
            _bring_to(self._kept, set(stated))
        if self._reasoner is not None:
            self._reasoner.load(self._store, stated)
        return None

    def query(self, request: Mapping[str, Any]) -> Any:
        """Runs a query; rows of terms as text."""
        found = self._store.query(request["text"], default_graph=self._graphs())
        if isinstance(found, ox.QueryBoolean):
            return {"names": ["result"], "boolean": bool(found)}
        if isinstance(found, ox.QueryTriples):
            rows, cut = _take((_texts(triple) for triple in found), request["rows"])
            return {"names": ["subject", "predicate", "object"], "rows": rows, "cut": cut}
        names = [variable.value for variable in found.variables]
        rows, cut = _take(([_text(item) for item in row] for row in found), request["rows"])
        return {"names": names, "rows": rows, "cut": cut}

    def construct(self, request: Mapping[str, Any]) -> Any:
        """Runs a CONSTRUCT query and gives all its triples."""
        found: Any = self._store.query(request["text"], default_graph=self._graphs())
        rows, cut = _take((_texts(triple) for triple in found), MOST_TRIPLES)
        if cut:
            return {"error": f"the statement changes more than {MOST_TRIPLES:,} triples at once"}
        return rows

    def move(self, request: Mapping[str, Any]) -> Any:
        """Adds and removes triples for the time of one write; nothing is concluded from them."""
        _move(self._store, _quads(request["added"]), _quads(request["removed"]))

    def commit(self, request: Mapping[str, Any]) -> Any:
        """Adds and removes triples and concludes; gives what is inferred anew and no longer."""
        added, removed = _quads(request["added"]), _quads(request["removed"])
        _move(self._store, added, removed)
        before = self._derived
        gone = set(map(tuple, request["inferred_removed"]))
        now = (before - gone) | set(map(tuple, request["inferred_added"]))
        if self._reasoner is not None:
            try:
                now = self._reasoner.conclude(self._store, added, removed, now)
            except BaseException as error:
                _move(self._store, removed, added)
                self._replace_inferred(before)
                self._reasoner.undo(added, removed)
                if isinstance(error, Violation):
                    return {"error": str(error)}
                raise
        self._replace_inferred(now)
        if self._kept is not None and (added or removed):
            self._kept.update(_as_update(request["added"], request["removed"], request.get("call", "")))
        self._derived = now
        return {"added": sorted(now - before), "removed": sorted(before - now)}

    def _replace_inferred(self, now: set[tuple[str, str, str]]) -> None:
        if now or self._derived:
            self._store.clear_graph(INFERRED)
            self._store.extend(_inferred_quads(now))

    def _graphs(self) -> list[Any]:
        return [ox.DefaultGraph(), INFERRED] if self._derived or self._reasoner else [ox.DefaultGraph()]


def _open(folder: Path, only_read: bool) -> ox.Store:
    """Opens a folder. One that is only read is locked too, where that can be: nobody must write to it meanwhile."""
    if only_read and not os.access(folder, os.W_OK):
        return ox.Store.read_only(str(folder))
    try:
        return ox.Store(str(folder))
    except OSError as error:
        if "lock" in str(error).lower():
            raise OSError(f"the graph in {folder} is in use by another run") from None
        raise


def _bring_to(store: ox.Store, wanted: set[ox.Quad]) -> None:
    """Gives a durable store this content. What is there already stays untouched: a crash must not lose it."""
    there = set(_stated(store))
    if there:
        store.extend(wanted - there)
    else:
        store.bulk_extend(wanted)
    for quad in there - wanted:
        store.remove(quad)
    store.flush()


def _move(store: ox.Store, added: Sequence[ox.Quad], removed: Sequence[ox.Quad]) -> None:
    for quad in removed:
        store.remove(quad)
    store.extend(added)


def _quads(text: str) -> list[ox.Quad]:
    return list(ox.parse(text, ox.RdfFormat.N_TRIPLES)) if text else []


def _inferred_quads(triples: Iterable[Sequence[str]]) -> list[ox.Quad]:
    text = "\n".join(f"{' '.join(triple)} ." for triple in triples)
    return [ox.Quad(quad.subject, quad.predicate, quad.object, INFERRED) for quad in _quads(text)]


def _stated(store: ox.Store) -> Iterable[ox.Quad]:
    """Gives what a durable store holds beside the note of the last call."""
    default = ox.DefaultGraph()
    return (quad for quad in store if quad.graph_name == default)


def _as_update(added: str, removed: str, call: str) -> str:
    parts = [f"{verb} DATA {{\n{text}\n}}" for verb, text in (("DELETE", removed), ("INSERT", added)) if text]
    return ";\n".join([*parts, *filter(None, [notes.note(notes.EMBEDDED, call)])])


def _texts(triple: Any) -> list[str]:
    return [str(triple.subject), str(triple.predicate), text_of(triple.object)]


def _text(term: Any) -> str | None:
    return None if term is None else text_of(term)


def _take(rows: Iterable[list[Any]], most: int) -> tuple[list[list[Any]], bool]:
    taken: list[list[Any]] = []
    room = MOST_CHARS
    for row in rows:
        room -= sum(len(item or "") for item in row) + 16
        if len(taken) >= most or (room < 0 and most != MOST_TRIPLES):
            return taken, True
        taken.append(row)
    return taken, False


def answer(act: Callable[[Mapping[str, Any]], Any], request: Mapping[str, Any]) -> Any:
    """Does one thing and gives the reply, a failure included."""
    try:
        return {"value": act(request)}
    except SyntaxError as error:
        return {"syntax": str(error.msg), "line": error.lineno or 0, "column": error.offset or 0}
    except QueryError as error:
        return {"value": {"error": error.message}}
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        return {"failure": f"{type(error).__name__}: {error}"}


def _limit_memory(megabytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def main() -> None:
    """Answers until the host goes away."""
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    options = receive(requests)
    _limit_memory(options["memory_mb"])
    worker: Worker | None = None
    try:
        worker = Worker(options)
        send(replies, {"value": None})
    except Exception as error:  # told to the host, which says it in one line
        send(replies, {"failure": f"{type(error).__name__}: {error}"})
        return
    while True:
        try:
            request = receive(requests)
        except EOFError:
            return
        send(replies, answer(getattr(worker, request["do"]), request))


if __name__ == "__main__":
    main()
