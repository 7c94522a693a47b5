"""One run at a time goes on with a graph on a server: a claim beside the graph, kept by a sign of life.

SPARQL has no locks, and servers keep updates apart in different ways. So a run first puts its claim there, then looks
for others: of two that come at the same moment at least one sees the other, and withdraws.
"""

from __future__ import annotations

import contextlib
import datetime
import random
import threading
import time
from dataclasses import dataclass
from typing import Any

from kgot_core.contracts.holder import Holder
from kgot_core.errors import Refused, StoreError
from kgot_rdf.addresses import beside
from kgot_rdf.http import JSON, SparqlClient
from kgot_rdf.http_body import read_json
from kgot_rdf.terms import literal

_NAMES = "urn:kgot:hold#"
_TRIES = 6
_SECONDS = 10.0


@dataclass(frozen=True)
class Claim:
    """A claim as the server has it.

    Attributes:
        holder: Whose it is.
        run: Id of the run.
        age: Seconds since its last sign of life, by the server's clock.
        holds: It is more than a claim: its run uses the graph.
    """

    holder: Holder
    run: str
    age: float
    holds: bool

    def is_alive(self, seconds: float) -> bool:
        """Tells whether it counts; ``seconds`` is how long one may give no sign of life."""
        return self.age <= seconds and self.holder.gone is not True


class Hold:
    """The hold on a graph, until it is released.

    Args:
        client: A connection of its own; closed with the hold.
        graph: Address of the graph.
        run: Id of the run, for messages.
        seconds: After how long without a sign of life a hold ends.
    """

    def __init__(self, client: SparqlClient, graph: str, run: str, seconds: float) -> None:
        self._client = client
        self._graph = graph
        self._place = beside(graph, "hold")
        self._run = run
        self._seconds = seconds
        self._holder = Holder.here()
        self._claim = f"<urn:kgot:hold:{self._holder.token}>"
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._seen = time.time()
        self._lost = False

    def take(self) -> None:
        """Takes the hold.

        Raises:
            Refused: Another run has it.
            StoreError: The server cannot be asked.
        """
        for _ in range(_TRIES):
            self._update(self._put())
            others = [claim for claim in self._claims() if claim.holder.token != self._holder.token]
            for claim in others:
                if not claim.is_alive(self._seconds):
                    self._update(self._gone(claim.holder.token))
            living = [claim for claim in others if claim.is_alive(self._seconds)]
            if not living:
                self._update(self._insert("holds", "true"))
                threading.Thread(target=self._beat, daemon=True, name="kgot-rdf-hold").start()
                return
            self._update(self._gone(self._holder.token))
            if any(claim.holds for claim in living):
                break
            time.sleep(random.uniform(0.05, 0.4))  # both came at the same moment
        raise self._in_use(living[0])

    def check(self) -> None:
        """Makes sure, before a write, that the hold was not taken over while this process slept.

        Raises:
            Refused: It was.
        """
        if not self._lost and abs(time.time() - self._seen) > self._seconds:
            self._sign()
        if self._lost:
            raise Refused("another run has taken the graph over; nothing was written")

    def release(self) -> None:
        """Gives the hold back. Idempotent."""
        if self._ended.is_set():
            return
        self._ended.set()
        with contextlib.suppress(StoreError):  # it ends by itself
            self._update(self._gone(self._holder.token))
        self._client.close()

    def _beat(self) -> None:
        while not self._ended.wait(self._seconds / 3):
            with contextlib.suppress(StoreError):  # the server is away: the next sign of life may reach it
                self._sign()

    def _sign(self) -> None:
        """Gives a sign of life, and sees whether the hold is still there."""
        self._update(
            f"DELETE {{ GRAPH <{self._place}> {{ {self._claim} <{_NAMES}beat> ?old }} }} "
            f"INSERT {{ GRAPH <{self._place}> {{ {self._claim} <{_NAMES}beat> ?now }} }} "
            f"WHERE {{ GRAPH <{self._place}> {{ {self._claim} <{_NAMES}beat> ?old }} BIND(NOW() AS ?now) }}"
        )
        found = self._ask(f"ASK {{ {self._claim} <{_NAMES}beat> ?beat }}")
        if found["boolean"]:
            self._seen = time.time()
        elif not self._ended.is_set():
            self._lost = True

    def _put(self) -> str:
        told = {"run": self._run, "host": self._holder.host, "process": str(self._holder.process)}
        told |= {"born": self._holder.born, "token": self._holder.token}
        triples = " ; ".join(f"<{_NAMES}{name}> {literal(value)}" for name, value in told.items())
        return (
            f"INSERT {{ GRAPH <{self._place}> {{ {self._claim} <{_NAMES}beat> ?now ; {triples} }} }} "
            "WHERE { BIND(NOW() AS ?now) }"
        )

    def _insert(self, name: str, value: str) -> str:
        return f"INSERT DATA {{ GRAPH <{self._place}> {{ {self._claim} <{_NAMES}{name}> {literal(value)} }} }}"

    def _gone(self, token: str) -> str:
        return f"DELETE WHERE {{ GRAPH <{self._place}> {{ <urn:kgot:hold:{token}> ?p ?o }} }}"

    def _claims(self) -> list[Claim]:
        names = ("run", "host", "process", "born", "token", "beat")
        body = " ; ".join(f"<{_NAMES}{name}> ?{name}" for name in names)
        found = self._ask(
            f"SELECT * {{ ?claim {body} OPTIONAL {{ ?claim <{_NAMES}holds> ?holds }} BIND(NOW() AS ?now) }}"
        )
        return [_claim({name: item["value"] for name, item in row.items()}) for row in found["results"]["bindings"]]

    def _update(self, text: str) -> None:
        with self._lock:
            self._client.update(text, _SECONDS)

    def _ask(self, text: str) -> Any:
        with self._lock:
            return read_json(self._client.query(text, JSON, (self._place,), _SECONDS), _SECONDS)

    def _in_use(self, claim: Claim) -> Refused:
        who = f"the run {claim.run} ({claim.holder.words}, seen {claim.age:.0f} s ago)"
        return Refused(
            f"the graph <{self._graph}> is used by {who}",
            hint="wait for its end, or take another graph with --graph-name; a crashed run lets go after "
            f"{self._seconds:g} s",
        )


def _claim(row: dict[str, str]) -> Claim:
    holder = Holder(row["host"], int(row["process"]), row["born"], row["token"])
    now, beat = (datetime.datetime.fromisoformat(row[name]) for name in ("now", "beat"))
    return Claim(holder, row["run"], (now - beat).total_seconds(), "holds" in row)
