"""Who runs the whole task: the KGoT loop is one strategy, a single agent would be another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from kgot_core.contracts.task import Outcome

if TYPE_CHECKING:
    from kgot_core.contracts.run import Run


class Strategy(ABC):
    """Answers a task with what a run offers.

    Attributes:
        reads_only: It answers from a graph that is there already: the run opens no tools, and refuses to write.
    """

    reads_only: ClassVar[bool] = False

    @abstractmethod
    async def run(self, run: Run) -> Outcome:
        """Runs the task to its end. Errors of models and stores may be raised; the session records them."""
