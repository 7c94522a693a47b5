"""What the Surfer remembers: all that it did in one line each, and what it saw since it last planned."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgot_core.contracts.prompts import tagged

LONGEST_NOTE = 800
LONGEST_OUTCOME = 400


@dataclass(frozen=True)
class Seen:
    """What an action gave.

    Attributes:
        outcome: In one line of our own, in which a page's title may stand.
        shown: What others wrote: a part of a page, results; empty where nothing is shown.
        url: Its address.
        place: Which part of the page it is.
        failed: The action failed; ``outcome`` says why.
    """

    outcome: str
    shown: str = ""
    url: str = ""
    place: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Step:
    """A step: what the model noted, and its actions with what came of them."""

    number: int
    note: str
    done: Sequence[tuple[str, Seen]]


class Memory:
    """Steps and the plan. What was seen before the last plan is not told again: the plan holds what matters of it."""

    def __init__(self) -> None:
        self.plan = ""
        self.steps: list[Step] = []
        self._planned = 0

    def planned(self, plan: str) -> None:
        """Takes a new plan."""
        self.plan = plan.strip()
        self._planned = len(self.steps)

    def log(self) -> str:
        """Tells every step in a line for each action, with the model's own notes."""
        lines = []
        for step in self.steps:
            lines += [f"{step.number}. {action}: {_line(seen.outcome)[:LONGEST_OUTCOME]}" for action, seen in step.done]
            lines += [f"   noted: {_line(step.note)}"] if step.note else []
        return "\n".join(lines) or "(nothing yet)"

    def seen(self) -> str:
        """Shows what was seen since the last plan, marked as data of others."""
        blocks = [
            tagged("seen", seen.shown, step=str(step.number), action=action, url=seen.url, part=seen.place)
            for step in self.steps[self._planned :]
            for action, seen in step.done
            if seen.shown
        ]
        return "\n".join(blocks) or "(nothing)"


def _line(text: str) -> str:
    """Writes a text on one line without tags: it may hold words of a page, such as its title, and ends no block."""
    return re.sub(r"<(?=\s*[/\w!?])", "(", " ".join(text.split()))


def action_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Writes an action on one line."""
    given = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items() if value)
    return f"{name}({given[:300]})"


def note_of(text: str) -> str:
    """Gives what a model wrote beside its calls, on one line; a call that it wrote as text is no note."""
    text = text.strip()
    if text.startswith(("{", "[", "```", "<tool_call")):
        return ""
    return " ".join(text.split())[:LONGEST_NOTE]
