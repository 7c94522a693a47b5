"""The text that both chains of requests begin with: the task, the graph, and what happened, append-only.

Providers charge a repeated beginning of a request at a fraction, so nothing that was sent is ever changed: each round
appends what it added. When the rounds outgrow the graph itself, or the budget, the graph is written anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kgot_core.contracts.dialect import Dialect, show_value
from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.task import Task
from kgot_core.contracts.tools import RunFiles, ToolResult
from kgot_core.graph.conflicts import Replaced
from kgot_core.graph.elements import Element, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import encode
from kgot_core.models.tokens import estimate_tokens

SMALLEST_BUDGET = 500
# No piece of text that the estimate counts as one token is longer, so longer texts need not be counted.
LONGEST_TOKEN = 9
ASKED_AGAIN = 300
_WORD = re.compile(r"\w+")
# One line that is too long by itself must not hide all that follow it.
FEWEST_LINES = 20
CONTRADICTED = "Sources contradict each other here; trust the one that should know best:"
MOST_CONFLICTS = 20
LONGEST_CONFLICT = 300


class Listing:
    """Lines for all elements of a graph, of which as many are shown as a budget allows.

    Args:
        elements: The elements.
        lines: Their lines, in the order in which they are shown.
        question: The task's question: lines that share words with it are kept longest.
    """

    def __init__(self, elements: Sequence[Element], lines: Sequence[str], question: str) -> None:
        self._elements = elements
        self._lines = lines
        self._question = question
        self._order: Sequence[int] = ()

    def is_of(self, elements: Sequence[Element]) -> bool:
        """Tells whether these very elements were listed."""
        same = zip(self._elements, elements, strict=False)
        return len(self._elements) == len(elements) and all(old is new for old, new in same)

    def fit(self, budget: int) -> tuple[list[str], int]:
        """Gives whole lines within a budget of tokens, and the number of those left out."""
        if _tokens(self._lines, budget) <= budget:
            return list(self._lines), 0
        self._order = self._order or self._ranked()
        kept: list[int] = []
        for place in self._order:
            size = _tokens([self._lines[place]], budget)
            if size > budget and len(kept) >= FEWEST_LINES:
                break
            if size <= budget:
                budget -= size
                kept.append(place)
        return [self._lines[place] for place in sorted(kept)], len(self._lines) - len(kept)

    def _ranked(self) -> Sequence[int]:
        """Orders lines by the words they share with the question; a word that few lines hold counts for more."""
        words = {word for word in _WORD.findall(self._question.casefold()) if len(word) > 3}
        shared = [words.intersection(_WORD.findall(line.casefold())) for line in self._lines]
        often = Counter(word for found in shared for word in found)
        weights = [-sum(1 / often[word] for word in found) for found in shared]
        return sorted(range(len(weights)), key=lambda place: (weights[place], place))


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
        self._conflicts: list[Replaced] = []
        self._log: list[str] = []
        self._shown: set[str] = set()
        self._listing: Listing | None = None
        self.rebase()

    @property
    def text(self) -> str:
        """Task, state and rounds: the beginning of every request of the run."""
        return "\n".join((self._task, *self._log))

    def add_round(
        self,
        number: int,
        results: Sequence[ToolResult],
        touched: Sequence[str],
        conflicts: Sequence[Replaced] = (),
    ) -> None:
        """Appends one round: the calls it made and what it did to the graph.

        Args:
            number: The iteration.
            results: Tool calls of the round.
            touched: Ids of elements that it added, changed or removed.
            conflicts: Values that it replaced by others.
        """
        lines = [f"Called: {_call_line(result)}" for result in results]
        self._calls += [_call_line(result) for result in results]
        present = [element for element_id in touched if (element := self._graph.get(element_id))]
        if len(present) < len(touched):
            # What is gone cannot be taken back from the text above.
            self._conflicts += conflicts
            self.rebase()
            return
        changed = [element for element in present if element.id in self._shown]
        new = [element for element in present if element.id not in self._shown]
        if new:
            lines += ["Added to the graph:", *self._dialect.lines(new, self._graph)]
        if changed:
            lines += ["Changed since it was shown above:", *self._dialect.lines(changed, self._graph)]
        if conflicts:
            lines += [CONTRADICTED, *self._conflict_lines(conflicts)]
            self._conflicts += conflicts
        self._shown |= {element.id for element in present}
        self._log.append(tagged("round", "\n".join(lines) or "(nothing new)", number=number))
        most = min(self.budget, 2 * self._base_tokens + 4_000)
        if _tokens(self._log, most) > most:
            self.rebase()

    def rebase(self) -> None:
        """Writes the whole state anew, within the budget."""
        elements = list(self._graph)
        if self._listing is None or not self._listing.is_of(elements):
            self._listing = Listing(elements, self._dialect.lines(elements, self._graph), self._question)
        calls = _latest(self._calls, self.budget // 3)
        lines, left_out = self._listing.fit(self.budget - _tokens(calls, self.budget))
        if left_out:
            lines.append(f"({left_out} of {len(elements)} nodes and edges are not shown; a query still finds them)")
        self._shown = {element.id for element in elements}
        self._log = [tagged("graph", "\n".join(lines) or "(empty before the first round)")]
        if conflicts := self._conflict_lines(self._conflicts)[-MOST_CONFLICTS:]:
            self._log.append(tagged("contradictions", "\n".join([CONTRADICTED, *conflicts])))
        if calls:
            self._log.append(tagged("tool_calls_made", "\n".join(calls)))
        self._base_tokens = _tokens(self._log, 2 * self.budget)

    def _conflict_lines(self, conflicts: Sequence[Replaced]) -> list[str]:
        """Shows each contradiction whose element is still there on one line."""
        lines = []
        for item in conflicts:
            if (element := self._graph.get(item.element_id)) is not None:
                if isinstance(element, Node):
                    subject = self._dialect.name(element)
                else:
                    subject = self._dialect.line(element, self._graph)
                values = f"{item.name} was {show_value(encode(item.old))}, then {show_value(encode(item.new))}"
                lines.append(_short(f"{subject}: {values}", LONGEST_CONFLICT))
        return lines

    def shrink(self) -> bool:
        """Halves the budget after a request that was too long; tells whether there was anything to shrink."""
        if self.budget <= SMALLEST_BUDGET:
            return False
        now = _tokens(self._log, 2 * self.budget)
        self.budget = max(SMALLEST_BUDGET, min(self.budget, now) // 2)
        self.rebase()
        return True


def asked_again(question: str) -> str:
    """Gives the question for the end of a request, where a small model sees it best; a very long one in short."""
    return shorten(question.strip(), ASKED_AGAIN)


def _call_line(result: ToolResult) -> str:
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in result.arguments.items())
    outcome = f"failed: {_short(result.text, 120)}" if result.failed else "ok"
    if result.whole:
        outcome += f", too long to be shown: all of it is in the file {result.whole}"
    return f"{result.name}({arguments}): {outcome}"


def _short(value: object, size: int = 60) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= size else text[: size - 3] + "..."


def _tokens(texts: Sequence[str], most: int) -> int:
    """Estimates the tokens of texts; once it is plain that there are more than ``most``, gives just more."""
    if sum(map(len, texts)) > LONGEST_TOKEN * most:
        return most + 1
    return sum(map(estimate_tokens, texts)) + len(texts)


def _latest(lines: Sequence[str], budget: int) -> list[str]:
    """Keeps the last lines within a budget."""
    kept: list[str] = []
    for line in reversed(lines):
        budget -= estimate_tokens(line) + 1
        if budget < 0:
            return [f"({len(lines) - len(kept)} earlier calls are not shown)", *reversed(kept)]
        kept.append(line)
    return list(lines)


def shorten(text: str, tokens: int) -> str:
    """Keeps the beginning and the end of a text within a number of tokens, and says what is missing."""
    size = estimate_tokens(text)
    if size <= tokens:
        return text
    room = max(200, int(len(text) * tokens / size))
    head, tail = text[: room * 3 // 4], text[-room // 4 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail)} characters left out ...]\n{tail}"
