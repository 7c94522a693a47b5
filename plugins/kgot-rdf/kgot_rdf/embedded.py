"""The embedded store: Oxigraph in a child process, filled again from the host's record whenever it was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from kgot_core.errors import QueryError, StoreUnavailable
from kgot_rdf.messages import syntax_error
from kgot_rdf.process import ChildProcess, Lost
from kgot_rdf.record import RdfRecord
from kgot_rdf.statement import Query
from kgot_rdf.store import Store, Table, lines
from kgot_rdf.terms import Triple, canonical
from kgot_rdf.text import Built
from kgot_rdf.triples import Delta, then

_TRIES = 2


class EmbeddedStore(Store):
    """A store of its own.

    Args:
        options: What the child process is started with.
        record: What it is filled with.
        load_seconds: How long filling it may take.
    """

    def __init__(self, options: Mapping[str, Any], record: Callable[[], RdfRecord], load_seconds: float) -> None:
        self._child = ChildProcess(options)
        self._record = record
        self._load_seconds = load_seconds
        self._filled = False
        self._staged: Delta | None = None
        self._waits = not any(options.get(name) for name in ("folder", "shapes", "rules")) and (
            options.get("inference", "none") == "none"
        )
        self._waiting: list[tuple[Delta, Delta]] = []
        self._child.start()

    def kept(self) -> Sequence[Triple]:
        """See :class:`~kgot_rdf.store.Store`."""
        reply = self._reply({"do": "kept"}, None, self._load_seconds, fill=False)
        return [_triple(texts) for texts in reply]

    def noted(self) -> Sequence[str]:
        """See :class:`~kgot_rdf.store.Store`."""
        return list(self._reply({"do": "noted"}, None, self._load_seconds, fill=False))

    def query(self, query: Query, rows: int, seconds: float) -> Table:
        """See :class:`~kgot_rdf.store.Store`."""
        request = {"do": "query", "text": query.built.text, "rows": rows}
        found = self._reply(request, query.built, seconds)
        table = [[None if text is None else canonical(text) for text in row] for row in found.get("rows", ())]
        return Table(found["names"], table, found.get("boolean"), found.get("cut", False))

    def construct(self, built: Built, seconds: float) -> Sequence[Triple]:
        """See :class:`~kgot_rdf.store.Store`."""
        return [_triple(texts) for texts in self._reply({"do": "construct", "text": built.text}, built, seconds)]

    def stage(self, delta: Delta, seconds: float) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        self.unstage()
        self._reply({"do": "move", **_texts(delta)}, None, seconds)
        self._staged = delta

    def unstage(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        staged, self._staged = self._staged, None
        if staged is not None and self._filled and self._child.running:
            self._reply({"do": "move", **_texts(staged.back())}, None, self._load_seconds)

    def commit(
        self, delta: Delta, inferred: Delta, seconds: float, fold: Callable[[Delta], None], call: str = ""
    ) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        fold(self.conclude(delta, inferred, seconds, call))

    def conclude(self, delta: Delta, inferred: Delta, seconds: float, call: str = "") -> Delta:
        """Changes the graph and gives what is inferred now and no longer."""
        if self._waits:
            # Nothing can be said against triples: the store gets them before its next query.
            if self._filled:
                self._waiting.append((delta, inferred))
            return inferred
        found = self._reply({"do": "commit", "call": call, **_commit(delta, inferred)}, None, seconds)
        return Delta(tuple(map(_triple, found["added"])), tuple(map(_triple, found["removed"])))

    def refill(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        self._filled = False
        try:
            self._ready(True)
        except Lost as error:
            raise StoreUnavailable(f"the store cannot be filled: {error}") from None

    def cancel(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        self._child.cancel()

    def forget(self) -> None:
        """Fills the store anew before its next use."""
        self._filled = False

    def close(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        self._child.end()

    def _reply(self, request: Mapping[str, Any], built: Built | None, seconds: float, *, fill: bool = True) -> Any:
        for _ in range(_TRIES):
            try:
                self._ready(fill)
                reply = self._child.ask(request, seconds)
                break
            except Lost:
                self._filled = False
                if self._staged is not None:
                    break
            except QueryError:
                self._filled = False
                raise
        else:
            reply = None
        if reply is None:
            raise QueryError("the statement needs more memory than a query may use; ask for less")
        return _value(reply, built)

    def _ready(self, fill: bool) -> None:
        if not self._child.running:
            self._filled = False
            self._child.start()
        if not fill:
            return
        if self._filled:
            self._catch_up()
            return
        record = self._record()
        stated, inferred = lines(tuple(record.stated)), [list(triple) for triple in record.inferred]
        reply = self._child.ask({"do": "load", "stated": stated, "inferred": inferred}, self._load_seconds)
        if "value" not in reply:
            raise StoreUnavailable(f"the store cannot be filled: {_cause(reply)}")
        self._filled = True
        self._waiting = []

    def _catch_up(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        delta, inferred = reduce(lambda one, two: (then(one[0], two[0]), then(one[1], two[1])), waiting)
        reply = self._child.ask({"do": "commit", **_commit(delta, inferred)}, self._load_seconds)
        if "value" not in reply:
            raise StoreUnavailable(f"the store cannot be filled: {_cause(reply)}")


def _value(reply: Mapping[str, Any], built: Built | None) -> Any:
    if "syntax" in reply:
        raise syntax_error(reply["syntax"], reply["line"], reply["column"], built)
    if "value" not in reply:
        raise QueryError(_cause(reply))
    value = reply["value"]
    if isinstance(value, dict) and "error" in value:
        raise QueryError(value["error"])
    return value


def _cause(reply: Mapping[str, Any]) -> str:
    return " ".join(str(reply.get("failure") or reply.get("syntax")).split())[:300]


def _texts(delta: Delta) -> dict[str, str]:
    return {"added": lines(delta.added), "removed": lines(delta.removed)}


def _commit(delta: Delta, inferred: Delta) -> dict[str, Any]:
    return {**_texts(delta), "inferred_added": inferred.added, "inferred_removed": inferred.removed}


def _triple(texts: Sequence[str]) -> Triple:
    return texts[0], texts[1], canonical(texts[2])
