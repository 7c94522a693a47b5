"""What every request of the graph chain begins with: rules, the dialect's guide, and its worked examples."""

from __future__ import annotations

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.solver import SolveForm
from kgot_core.run.prompting.examples import decide_examples, fenced
from kgot_core.run.prompting.prompts import Prompts


def graph_rules(prompts: Prompts, dialect: Dialect, form: SolveForm, types: str = "") -> str:
    """Gives the system text of the graph chain; the same bytes in every request of a run.

    Args:
        prompts: The run's prompts.
        dialect: The language of the graph.
        form: What a Solve vote carries.
        types: Kinds of nodes and edges that are allowed; empty allows all.
    """
    # Each block says which result it comes from: small models do as an example does, not as a rule says.
    writes = [fenced(f"{dialect.fence} r{number}", text) for number, text in enumerate(dialect.write_examples, 1)]
    decisions = [f"Task: {example.task}\n{example.reply}" for example in decide_examples(dialect, form)]
    rules = prompts.fill(
        "graph_rules",
        language=dialect.language,
        guide=dialect.guide.strip(),
        write_examples="\n".join(writes),
        decide_examples="\n\n".join(decisions),
    )
    return f"{rules}\n\n{prompts.fill('graph_schema', types=types)}" if types else rules
