"""The worked examples that prompts show, and how their copies are recognised in replies (case D58).

Their content is invented, so a reply that repeats it says nothing about the task. A line that any task might bring,
such as a loop over edges of a usual type, is no copy: only lines with an invented name are, and whole statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.solver import SolveForm
from kgot_core.graph.facts import read_lines
from kgot_core.graph.facts.model import EdgeFact, Fact, RemoveEdge
from kgot_core.reading.blocks import read_blocks
from kgot_core.reading.echo import repeats_example

ENHANCE_TASK = "Who gave the Ostrel bell away, and in which year?"
ENHANCE_REASON = "The graph says nothing about the Ostrel bell, so both its giver and the year are missing."
_NAME = re.compile(r"[\"']([A-Z][\w'-]*(?: [\w'-]+){0,4} [A-Z][\w'-]*)[\"']")


@dataclass(frozen=True)
class Example:
    """A reply as a prompt shows it, with the task that it is for."""

    task: str
    reply: str


def decide_examples(dialect: Dialect, form: SolveForm) -> Sequence[Example]:
    """Gives the decisions that the rules show."""
    found = []
    for example in dialect.query_examples[:2]:
        if form == "query":
            payload = fenced(dialect.fence, example.query)
        else:
            payload = f"{fenced('', example.answer)}\nBASIS: {' | '.join(example.basis)}"
        reason = f"What the task asks is held by {' and '.join(example.basis)}."
        found.append(Example(example.question, f"SOLVE\n{reason}\n{payload}"))
    return (*found, Example(ENHANCE_TASK, f"ENHANCE\n{ENHANCE_REASON}"))


def fenced(language: str, text: str) -> str:
    """Puts text into a fenced block."""
    return f"```{language}\n{text.strip()}\n```"


def copies_decision(reply: str, dialect: Dialect) -> bool:
    """Tells whether a reply to the request for a decision, or for an answer, repeats an example of either form."""
    shown = [example.reply for form in ("query", "direct") for example in decide_examples(dialect, form)]
    reasons = [line for text in shown for line in text.splitlines() if line.endswith(".")]
    told = [*reasons, *_with_names(shown, _names(dialect))]
    queries = [example.query for example in dialect.query_examples]
    return repeats_example(reply, told) or any(_is_one_of(block.text, queries) for block in read_blocks(reply))


def copies_query(query: str, dialect: Dialect) -> bool:
    """Tells whether a query repeats an example."""
    shown = [example.query for example in dialect.query_examples]
    return _is_one_of(query, shown) or repeats_example(query, _with_names(shown, _names(dialect)))


def copies_write(statement: str, dialect: Dialect, known: str) -> bool:
    """Tells whether a writing statement repeats an example, or speaks of several of its invented things.

    Args:
        statement: The statement.
        dialect: Whose examples.
        known: The task and the results in lower case: what they name is not invented.
    """
    names = [name for name in _names(dialect) if name.casefold() not in known]
    spoken = [name for name in names if name in statement]
    return len(spoken) > 1 or repeats_example(statement, _with_names(dialect.write_examples, names))


def invented_facts(prompt: str, known: str) -> frozenset[str]:
    """Gives the names of all things in the facts that a prompt shows as an example, in lower case.

    Args:
        prompt: The prompt.
        known: The task and the results in lower case; names that stand there are left out.
    """
    lines = [line for block in read_blocks(prompt) for line in block.text.splitlines()]
    names = {name.casefold() for fact in read_lines(lines).facts for name in _mentioned(fact)}
    return frozenset(name for name in names if name not in known)


def copies_facts(line: str, invented: frozenset[str]) -> bool:
    """Tells whether a line of facts speaks of an example's invented things."""
    said = line.casefold()
    return any(name in said for name in invented)


def _mentioned(fact: Fact) -> Iterable[str]:
    things = (fact.source, fact.target) if isinstance(fact, EdgeFact | RemoveEdge) else (fact.node,)
    return (thing.name for thing in things)


def _names(dialect: Dialect) -> Sequence[str]:
    """Gives the invented names of a dialect's examples: those its answers rest on, and names of two words in quotes."""
    quoted = [name for text in dialect.write_examples for name in _NAME.findall(text)]
    basis = [name for example in dialect.query_examples for name in example.basis]
    return tuple(dict.fromkeys(name for name in (*quoted, *basis) if len(name) >= 5))


def _with_names(texts: Iterable[str], names: Sequence[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines() if any(name in line for name in names)]


def _is_one_of(text: str, shown: Iterable[str]) -> bool:
    """Compares whole statements; white space does not count."""
    plain = "".join(text.split())
    return bool(plain) and any(plain == "".join(other.split()) for other in shown)
