"""How a graph gives an answer (paper, section 2.3): by a query, by being read, or both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from kgot_core.contracts.run import Run

SolveForm: TypeAlias = Literal["query", "direct"]


@dataclass(frozen=True)
class Proposal:
    """What a Solve vote carried: a query, or a direct answer with the elements it rests on.

    Attributes:
        text: The query or the answer.
        support: How many votes carried it.
        basis: Names of elements that a direct answer rests on, as the model wrote them.
    """

    text: str
    support: int = 1
    basis: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A partial solution that came out of the graph.

    Attributes:
        text: What the graph gave, as text for the next stage.
        how: ``query`` or ``direct``.
        statement: The query that gave it; empty for a direct answer.
        elements: Ids of the elements it rests on.
    """

    text: str
    how: str
    statement: str = ""
    elements: tuple[str, ...] = ()


class Solver(ABC):
    """A way to get an answer out of the graph.

    Attributes:
        form: What a Solve vote should carry for this solver.
    """

    form: SolveForm

    @abstractmethod
    async def solve(self, run: Run, proposals: Sequence[Proposal]) -> Sequence[Candidate]:
        """Gives candidates, best first; empty where the graph holds none.

        Args:
            run: The run, at the step of the solve.
            proposals: Distinct proposals of the votes, most supported first; empty when the iteration limit forces
                the solve: then the solver asks for its own.
        """
