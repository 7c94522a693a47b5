"""Solve by a query on the graph, in the backend's own language (paper, sections 2.3 and C.3.1)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgot_core.contracts.backend import Row
from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal, Solver
from kgot_core.events import SolveFailed
from kgot_core.reading.blocks import read_blocks
from kgot_core.run.prompting.examples import copies_query
from kgot_core.run.prompting.transcript import asked_again
from kgot_core.run.stages.evidence import holding
from kgot_core.run.stages.repair import run_with_repairs

EMPTY = "it returned nothing"
FAILED = "it could not be run"
MOST_SHOWN = 3
# Names of a single column that say nothing; any other may tell the unit.
NAMELESS = frozenset({"result", "value", "answer"})


@dataclass
class _Attempts:
    """What was tried so far.

    Attributes:
        tried: All statements that gave no answer.
        outcomes: Those of them that ran last, with what became of them.
        problem: Why the last reply held no new query; empty where it did.
    """

    tried: set[str] = field(default_factory=set)
    outcomes: dict[str, str] = field(default_factory=dict)
    problem: str = ""


class QuerySolver(Solver):
    """Runs the votes' queries in order of support; asks for new ones only if none gives an answer."""

    form = "query"

    async def solve(self, run: Run, proposals: Sequence[Proposal]) -> Sequence[Candidate]:
        """Gives the first answer; an empty result is none."""
        attempts = _Attempts()
        queries = [proposal.text for proposal in proposals if proposal.text.strip()]
        for number, query in enumerate(queries, 1):
            if query not in attempts.tried and (candidate := await _try(run.at(f"voted-{number}"), query, attempts)):
                return (candidate,)
        if not len(run.graph.state):
            run.emit(SolveFailed(form="query", cause="the graph is empty"))
            return ()
        extra = 0 if queries else 1
        told: set[str] = set()
        for number in range(1, run.options.limits.max_retrieve_query_retry + extra + 1):
            query = await _ask(run, number, attempts)
            if query in attempts.tried:
                attempts.problem = "it is a query that was tried already"
            if attempts.problem:
                # What the model was told already would be the same request once more.
                if attempts.problem in told:
                    break
                told.add(attempts.problem)
            elif candidate := await _try(run.at(f"new-{number}"), query, attempts):
                return (candidate,)
        outcomes = list(attempts.outcomes.values())
        cause = outcomes[-1] if outcomes else attempts.problem or "no query was written"
        run.emit(SolveFailed(form="query", cause=cause))
        return ()


async def _try(run: Run, query: str, attempts: _Attempts) -> Candidate | None:
    ran: list[str] = []

    async def execute(step: str, statement: str) -> Sequence[Row]:
        ran.append(statement)
        return await run.graph.query(step, statement)

    rows = await run_with_repairs(run, query, "query", execute, lambda text: copies_query(text, run.graph.dialect))
    statement = ran[-1]
    if rows and (shown := show_rows(rows)):
        return Candidate(shown, "query", statement, holding(run.graph.state, rows))
    attempts.tried |= {query, *ran}
    attempts.outcomes[statement] = FAILED if rows is None else EMPTY
    return None


async def _ask(run: Run, number: int, attempts: _Attempts) -> str:
    """Asks for a query, telling what was tried; sets ``problem`` where the reply holds none."""
    latest = list(attempts.outcomes.items())[-MOST_SHOWN:]
    earlier = [run.prompt("retrieve_earlier", statement=text, outcome=outcome) for text, outcome in latest]
    if attempts.problem:
        earlier.append(run.prompt("again", problem=attempts.problem))
    slots = {"question": asked_again(run.task.question), "fence": run.graph.dialect.fence}
    tail = run.prompt("retrieve", earlier="\n".join(earlier), **slots)
    reply = await run.ask_with_state(f"query-{number}", "retrieve", tail)
    query, attempts.problem = _read(run, reply.completions[0])
    return query


def _read(run: Run, completion: Completion) -> tuple[str, str]:
    """Gives the query in a reply, or why there is none."""
    dialect = run.graph.dialect
    blocks = [block for block in read_blocks(completion.text) if block.closed or not completion.truncated]
    texts = [block.text.strip() for block in blocks if block.language == dialect.fence] or [
        block.text.strip() for block in blocks
    ]
    texts = [text for text in texts if text]
    if not texts and completion.truncated:
        return "", "it was cut off by the token limit"
    if not texts:
        return "", "it held no fenced block"
    own = [text for text in texts if not copies_query(text, dialect)]
    return (own[0], "") if own else ("", "it repeats the example, which is not part of this task")


def show_rows(rows: Sequence[Row]) -> str:
    """Shows rows as text for the next stage; empty where every value is missing."""
    lines = []
    for row in rows:
        values = {name: value for name, value in row.items() if value not in (None, "", [], {})}
        if not values:
            continue
        if len(row) == 1 and next(iter(row)) in NAMELESS:
            lines.append(_text(next(iter(values.values()))))
        else:
            lines.append(", ".join(f"{name}: {_text(value)}" for name, value in values.items()))
    return "\n".join(lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
