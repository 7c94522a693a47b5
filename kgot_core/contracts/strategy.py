"""Who runs the whole task: the KGoT loop is one strategy, a single agent would be another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from kgot_core.contracts.task import Outcome

if TYPE_CHECKING:
    from kgot_core.contracts.run import Run


class Strategy(ABC):
    """Answers a task with what a run offers."""

    @abstractmethod
    async def run(self, run: Run) -> Outcome:
        """Runs the task to its end. Errors of models and stores may be raised; the session records them."""
