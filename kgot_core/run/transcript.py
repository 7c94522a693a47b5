"""The text that both chains of requests begin with: the task, the graph, and what happened, append-only.

Providers charge a repeated beginning of a request at a fraction, so nothing that was sent is ever changed: each round
appends what it added. When the rounds outgrow the graph itself, or the budget, the graph is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.task import Task
from kgot_core.contracts.tools import RunFiles, ToolResult
from kgot_core.graph.fold import TaskGraph
from kgot_core.models.tokens import estimate_tokens
from kgot_core.run.prompts import tagged

SMALLEST_BUDGET = 500


class Transcript:
    """Task and state as text.

    Args:
        task: The task.
        files: Its attachments.
        dialect: How elements are shown.
        graph: The core's own graph, read when text is made.
        budget: Tokens that the state may take.
    """

    def __init__(self, task: Task, files: RunFiles, dialect: Dialect, graph: TaskGraph, budget: int) -> None:
        self.budget = budget
        self._dialect = dialect
        self._graph = graph
        self._question = task.question
        attachments = [f"- {name}" for name in files.names()]
        shown = "\n\nAttached files, by the names that tools know:\n" + "\n".join(attachments) if attachments else ""
        self._task = tagged("task", task.question.strip() + shown)
        self._calls: list[str] = []
        self._log: list[str] = []
        self.rebase()

    @property
    def text(self) -> str:
        """Task, state and rounds: the beginning of every request of the run."""
        return "\n".join((self._task, *self._log))

    def add_round(self, number: int, results: Sequence[ToolResult], touched: Sequence[str]) -> None:
        """Appends one round: the calls it made and what it did to the graph.

        Args:
            number: The iteration.
            results: Tool calls of the round.
            touched: Ids of elements that it added, changed or removed.
        """
        calls = [_call_line(result) for result in results]
        self._calls += calls
        present = [element for element_id in touched if (element := self._graph.get(element_id))]
        removed = len(touched) - len(present)
        lines = [*calls, *self._dialect.lines(present, self._graph)]
        if removed:
            lines.append(f"({removed} elements were removed or replaced; those listed here are current)")
        self._log.append(tagged("round", "\n".join(lines) or "(nothing new)", number=number))
        size = sum(map(estimate_tokens, self._log))
        if removed or size > self.budget or size > 2 * self._base_tokens + 4_000:
            self.rebase()

    def rebase(self) -> None:
        """Writes the whole state anew, within the budget."""
        lines = self._dialect.lines(self._graph, self._graph)
        kept, left_out = _fit(lines, self._question, self.budget - sum(map(estimate_tokens, self._calls)))
        if left_out:
            kept.append(f"({left_out} of {len(lines)} nodes and edges are not shown; a query still finds them)")
        self._log = [tagged("graph", "\n".join(kept) or "(empty)")]
        if self._calls:
            self._log.append(tagged("tool_calls_made", "\n".join(self._calls)))
        self._base_tokens = sum(map(estimate_tokens, self._log))

    def shrink(self) -> bool:
        """Halves the budget after a request that was too long; tells whether there was anything to shrink."""
        if self.budget <= SMALLEST_BUDGET:
            return False
        now = sum(map(estimate_tokens, self._log))
        self.budget = max(SMALLEST_BUDGET, min(self.budget, now) // 2)
        self.rebase()
        return True


def _call_line(result: ToolResult) -> str:
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in result.arguments.items())
    outcome = f"failed: {_short(result.text, 120)}" if result.failed else "ok"
    return f"{result.name}({arguments}): {outcome}"


def _short(value: object, size: int = 60) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= size else text[: size - 3] + "..."


def _fit(lines: Sequence[str], question: str, budget: int) -> tuple[list[str], int]:
    """Keeps whole lines within a budget: those that share words with the question first, then the order given."""
    if sum(map(estimate_tokens, lines)) + len(lines) <= budget:
        return list(lines), 0
    words = {word for word in re.findall(r"\w+", question.casefold()) if len(word) > 3}
    ranked = sorted(
        range(len(lines)),
        key=lambda place: (-len(words.intersection(re.findall(r"\w+", lines[place].casefold()))), place),
    )
    kept: list[int] = []
    for place in ranked:
        budget -= estimate_tokens(lines[place]) + 1
        if budget < 0:
            break
        kept.append(place)
    return [lines[place] for place in sorted(kept)], len(lines) - len(kept)


def shorten(text: str, tokens: int) -> str:
    """Keeps the beginning and the end of a text within a number of tokens, and says what is missing."""
    size = estimate_tokens(text)
    if size <= tokens:
        return text
    room = max(200, int(len(text) * tokens / size))
    head, tail = text[: room * 3 // 4], text[-room // 4 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail)} characters left out ...]\n{tail}"
