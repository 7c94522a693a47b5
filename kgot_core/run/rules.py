"""What every request of the graph chain begins with: rules, the dialect's guide, and its worked examples."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.solver import SolveForm
from kgot_core.run.prompts import Prompts

ENHANCE_REASON = "The graph names the things themselves, but not the year in which the last of them was given away."


def graph_rules(prompts: Prompts, dialect: Dialect, form: SolveForm, types: str = "") -> str:
    """Gives the system text of the graph chain; the same bytes in every request of a run.

    Args:
        prompts: The run's prompts.
        dialect: The language of the graph.
        form: What a Solve vote carries.
        types: Kinds of nodes and edges that are allowed; empty allows all.
    """
    rules = prompts.fill(
        "graph_rules",
        language=dialect.language,
        guide=dialect.guide.strip(),
        write_examples="\n".join(fenced(dialect.fence, example) for example in dialect.write_examples),
        decide_examples="\n".join(_shown_decisions(dialect, form)),
    )
    return f"{rules}\n\n{prompts.fill('graph_schema', types=types)}" if types else rules


def decide_examples(dialect: Dialect, form: SolveForm) -> Sequence[str]:
    """Gives the replies that the rules show as examples, to recognise them when they come back."""
    example = dialect.query_examples[0]
    if form == "query":
        payload = fenced(dialect.fence, example.query)
    else:
        payload = f"{fenced('', example.answer)}\nBASIS: {' | '.join(example.basis)}"
    reason = f"What the task asks is held by {' and '.join(example.basis)}."
    return (f"SOLVE\n{reason}\n{payload}", f"ENHANCE\n{ENHANCE_REASON}")


def fenced(language: str, text: str) -> str:
    """Puts text into a fenced block."""
    return f"```{language}\n{text.strip()}\n```"


def _shown_decisions(dialect: Dialect, form: SolveForm) -> Sequence[str]:
    solve, enhance = decide_examples(dialect, form)
    question = dialect.query_examples[0].question
    return (f"Task: {question}\n{solve}", f"Task: In which year was the last of them given away?\n{enhance}")
