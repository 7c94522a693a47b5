"""What the backend needs of a place where triples are kept and SPARQL is run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgot_rdf.statement import Query
from kgot_rdf.terms import Term, Triple
from kgot_rdf.text import Built
from kgot_rdf.triples import Delta


@dataclass(frozen=True)
class Table:
    """The result of a query as terms; ``boolean`` is that of an ASK."""

    names: Sequence[str]
    rows: Sequence[Sequence[Term | None]] = ()
    boolean: bool | None = None
    cut: bool = False


class Store(ABC):
    """Holds one run's graph. Errors are those of :class:`~kgot_core.contracts.backend.GraphBackend`."""

    @abstractmethod
    def kept(self) -> Sequence[Triple]:
        """Gives the triples that are there from earlier."""

    def kept_inferred(self) -> Sequence[Triple]:
        """Gives the inferred triples that are there from earlier, where they are not found anew."""
        return ()

    def noted(self) -> Sequence[str]:
        """Gives the ids of calls that are noted as done with a graph that is kept."""
        return ()

    @abstractmethod
    def query(self, query: Query, rows: int, seconds: float) -> Table:
        """Runs a reading statement."""

    @abstractmethod
    def construct(self, built: Built, seconds: float) -> Sequence[Triple]:
        """Runs a CONSTRUCT query and gives all its triples; blank nodes as they come."""

    @abstractmethod
    def stage(self, delta: Delta, seconds: float) -> None:
        """Makes triples seen by the next ``construct``, as a step of a write that is not done yet."""

    @abstractmethod
    def unstage(self) -> None:
        """Takes back what was staged."""

    @abstractmethod
    def commit(
        self, delta: Delta, inferred: Delta, seconds: float, fold: Callable[[Delta], None], call: str = ""
    ) -> None:
        """Changes the graph, all or nothing.

        Args:
            delta: Stated triples.
            inferred: Triples that were inferred elsewhere.
            seconds: Time limit.
            fold: Called once with what is inferred now and no longer; maybe while a server still works. The caller
                takes back what it did there if this raises.
            call: Id of the call, to be noted with a graph that is kept; empty for none.
        """

    @abstractmethod
    def refill(self) -> None:
        """Puts what the record holds in the place of what is there."""

    @abstractmethod
    def cancel(self) -> None:
        """Ends what runs, called from another thread."""

    @abstractmethod
    def close(self) -> None:
        """Gives everything back. Idempotent."""


def lines(triples: Sequence[Triple]) -> str:
    """Gives triples as N-Triples."""
    return "\n".join(f"{subject} {predicate} {obj} ." for subject, predicate, obj in triples)
