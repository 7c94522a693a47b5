"""Answers from a graph that is there already, without tools and without writing."""

from __future__ import annotations

from typing import ClassVar

from kgot_core.contracts.run import Run
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import NO_SOLUTION, Outcome
from kgot_core.strategies.solving import solve


class AskGraph(Strategy):
    """Solves at once: what the loop does at its end is all that it does."""

    reads_only: ClassVar[bool] = True

    async def run(self, run: Run) -> Outcome:
        """Runs the task to its end."""
        if not len(run.graph.state):
            return Outcome(NO_SOLUTION, "no_solution", reason="the graph is empty")
        return await solve(run, (), 0)
