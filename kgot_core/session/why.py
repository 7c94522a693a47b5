"""Why a run answered as it did: from the answer back to the pages and files, read from its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgot_core.graph.elements import Element
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import plain_text
from kgot_core.sinks.lines import one_line
from kgot_core.sinks.progress import Totals

PASSAGE = 200
MOST_ROWS = 5


@dataclass(frozen=True)
class Why:
    """The chain behind an answer, as JSON data.

    Attributes:
        question: The question.
        answer: The answer's JSON form without its evidence.
        query: The statement that gave the answer and its rows; empty where it was read from the graph.
        calculations: Scripts that calculated from it, with what they printed.
        evidence: For each element that the answer rests on its line, round, sources, what of it stands in none of
            them, and values that it replaced.
    """

    question: str
    answer: Mapping[str, Any]
    query: Mapping[str, Any]
    calculations: Sequence[Mapping[str, Any]]
    evidence: Sequence[Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Gives it as one JSON object."""
        return {
            "question": self.question,
            "answer": dict(self.answer),
            "query": dict(self.query),
            "calculations": [dict(item) for item in self.calculations],
            "evidence": [dict(item) for item in self.evidence],
        }


def explain(records: Sequence[Mapping[str, Any]]) -> Why | None:
    """Finds the chain behind a run's answer; ``None`` for a run that has not ended.

    Args:
        records: The run's records.
    """
    ends = [record["answer"] for record in records if record["kind"] == "run_finished"]
    if not ends:
        return None
    totals = Totals()
    for record in records:
        totals.take(record)
    answer = dict(ends[-1])
    evidence = [_evidence(item, records, totals.graph) for item in answer.pop("evidence")]
    queries = [record for record in records if record["kind"] == "graph_queried" and record["rows"]]
    scripts = [record for record in records if record["kind"] == "code_ran" and "compute" in record["step"].split("/")]
    return Why(
        question=str(records[0].get("question", "")),
        answer=answer,
        query=_picked(queries[-1], "statement", "rows") if queries and "query" in answer["how"] else {},
        calculations=[_picked(item, "code", "output", "error") for item in scripts],
        evidence=evidence,
    )


def why_lines(why: Why) -> Iterator[str]:
    """Gives the chain as lines for a person."""
    answer = why.answer
    yield f"question: {one_line(why.question, 400)}"
    yield f"answer: {answer['text']}"
    told = "; ".join(text for text in (answer["status"].replace("_", " "), answer["how"], answer["reason"]) if text)
    yield f"  {told}"
    if why.query:
        yield "found by the query"
        yield from (f"  {line}" for line in why.query["statement"].splitlines())
        yield from (
            f"  gave {one_line(', '.join(f'{name}: {value}' for name, value in row.items()))}"
            for row in why.query["rows"][:MOST_ROWS]
        )
    for script in why.calculations:
        yield "calculated by a script"
        yield f"  {'failed' if script['error'] else 'gave'} {one_line(script['error'] or script['output'])}"
    if why.evidence:
        yield "rests on"
    for item in why.evidence:
        yield from (f"  {line}" for line in _evidence_lines(item))


def _evidence(item: Mapping[str, Any], records: Sequence[Mapping[str, Any]], graph: TaskGraph) -> dict[str, Any]:
    element = graph.get(item["element"])
    calls = {record["step"]: record for record in records if record["kind"] == "tool_called"}
    replaced = [
        _picked(record, "name", "old", "new", "earlier", "sources")
        for record in records
        if record["kind"] == "value_replaced" and record["element"] == item["element"]
    ]
    return {
        "element": item["element"],
        "text": item["text"],
        "round": item["iteration"],
        "sources": [_source(name, calls.get(name), element) for name in item["sources"]],
        "unsupported": list(item.get("unsupported", ())),
        "replaced": replaced,
    }


def _picked(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: record[name] for name in names}


def _source(name: str, call: Mapping[str, Any] | None, element: Element | None) -> dict[str, Any]:
    if call is None:
        return {"source": name}
    return {
        "source": name,
        "tool": call["tool"],
        "arguments": dict(call["arguments"]),
        "passage": passage(str(call["text"]), element),
        "pages": [dict(source) for source in call["sources"]],
        "files": list(call["files"]),
    }


def passage(text: str, element: Element | None) -> str:
    """Gives the part of a source's text in which most of an element's values stand, else its beginning."""
    flat = " ".join(text.split())
    values = [plain_text(value).casefold() for value in element.properties.values()] if element else []
    places = [place for value in values if value and (place := flat.casefold().find(value)) >= 0]
    if len(flat) <= PASSAGE or not places:
        return one_line(flat, PASSAGE)
    starts = [max(0, place - PASSAGE // 4) for place in places]
    start = max(starts, key=lambda begin: sum(begin <= place < begin + PASSAGE for place in places))
    end = start + PASSAGE
    return ("..." if start else "") + flat[start:end].strip() + ("..." if end < len(flat) else "")


def _evidence_lines(item: Mapping[str, Any]) -> Iterator[str]:
    yield item["text"] + (f"   (round {item['round']})" if item["round"] else "   (there before the run)")
    for source in item["sources"]:
        yield from (f"  {line}" for line in _source_lines(source))
    if item["unsupported"]:
        yield f"  stands in no source, so it is the model's own: {', '.join(item['unsupported'])}"
    for value in item["replaced"]:
        earlier = ", ".join(value["earlier"]) or "before the run"
        yield f"  {value['name']} was {one_line(str(value['old']), 60)} before, from {earlier}"


def _source_lines(source: Mapping[str, Any]) -> Iterator[str]:
    if "tool" not in source:
        yield f"from {source['source']}"
        return
    arguments = ", ".join(f"{name}={one_line(str(value), 60)}" for name, value in source["arguments"].items())
    yield f"from {source['tool']}({arguments}), at {source['source']}"
    yield f"  said: {source['passage']}"
    for page in source["pages"]:
        place = ", ".join(text for text in (page.get("title", ""), page.get("place", "")) if text)
        yield f"  source: {page['address']}" + (f" ({place})" if place else "")
    for name in source["files"]:
        yield f"  file: {name}"
