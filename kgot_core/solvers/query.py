"""Solve by a query on the graph, in the backend's own language (paper, sections 2.3 and C.3.1)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kgot_core.contracts.backend import Row
from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate, Proposal, Solver
from kgot_core.events import SolveFailed
from kgot_core.reading.blocks import read_blocks
from kgot_core.reading.echo import repeats_example
from kgot_core.run.evidence import holding
from kgot_core.run.repair import run_with_repairs

EMPTY = "it returned nothing"


class QuerySolver(Solver):
    """Runs the votes' queries in order of support; asks for new ones only if none gives an answer."""

    form = "query"

    async def solve(self, run: Run, proposals: Sequence[Proposal]) -> Sequence[Candidate]:
        """Gives the first answer; an empty result is none."""
        earlier: list[tuple[str, str]] = []
        queries = [proposal.text for proposal in proposals if proposal.text.strip()]
        for number, query in enumerate(queries, 1):
            if candidate := await self._try(run.at(f"voted-{number}"), query, earlier):
                return (candidate,)
        extra = 0 if queries else 1
        for number in range(1, run.options.limits.max_retrieve_query_retry + extra + 1):
            query = await self._ask(run, number, earlier)
            if not query or query in {statement for statement, _outcome in earlier}:
                # Asking again would send the same bytes; another sample differs by its temperature only.
                if not query:
                    continue
                break
            if candidate := await self._try(run.at(f"new-{number}"), query, earlier):
                return (candidate,)
        run.emit(SolveFailed(form="query", cause=earlier[-1][1] if earlier else "no query was written"))
        return ()

    async def _try(self, run: Run, query: str, earlier: list[tuple[str, str]]) -> Candidate | None:
        ran: list[str] = []

        async def execute(step: str, statement: str) -> Sequence[Row]:
            ran.append(statement)
            return await run.graph.query(step, statement)

        rows = await run_with_repairs(run, query, "query", execute)
        statement = ran[-1]
        if rows and (shown := show_rows(rows)):
            return Candidate(shown, "query", statement, holding(run.graph.state, rows))
        outcome = EMPTY if rows is not None else "it could not be run"
        earlier.append((statement, outcome))
        return None

    async def _ask(self, run: Run, number: int, earlier: Sequence[tuple[str, str]]) -> str:
        shown = ""
        if earlier:
            statement, outcome = earlier[-1]
            shown = run.prompt("retrieve_earlier", statement=statement, outcome=outcome)
        tail = run.prompt("retrieve", earlier=shown, fence=run.graph.dialect.fence)
        reply = await run.ask_with_state(f"query-{number}", "retrieve", tail)
        completion = reply.completions[0]
        blocks = [block for block in read_blocks(completion.text) if block.closed or not completion.truncated]
        examples = [example.query for example in run.graph.dialect.query_examples]
        texts = [block.text.strip() for block in blocks if not repeats_example(block.text, examples)]
        return texts[0] if texts else ""


def show_rows(rows: Sequence[Row]) -> str:
    """Shows rows as text for the next stage; empty where every value is missing."""
    lines = []
    for row in rows:
        values = {name: value for name, value in row.items() if value not in (None, "", [], {})}
        if not values:
            continue
        if len(row) == 1:
            lines.append(_text(next(iter(values.values()))))
        else:
            lines.append(", ".join(f"{name}: {_text(value)}" for name, value in values.items()))
    return "\n".join(lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
