"""Runs questions on CSV tables through the whole loop and compares each table, cell by cell, with what the tools gave.

The folder holds CSV files and ``questions.jsonl`` with ``id``, ``question``, ``table`` and ``answer`` (a list). The
model's replies are scripted: it calls ``inspect_file`` and ``run_python_code`` on the table, writes the known answer
into the graph and solves. What is measured is the way of the table: ``inspect_file`` against the CSV, and the cells
that a script in the sandbox reads.

    python benchmarks/tables.py FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kgot_core
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.scripted_model import Asked, Say, ScriptedModel
from kgot_tools_media.markdown import cells

ENOUGH_TOKENS = 200_000


@dataclass(frozen=True)
class Question:
    """A question on a table.

    Attributes:
        id: Its name.
        text: The question.
        table: The CSV file.
        answer: The right answer, from one value or several.
    """

    id: str
    text: str
    table: Path
    answer: str


@dataclass(frozen=True)
class Outcome:
    """What came of a question: each is right or wrong."""

    inspected: bool
    script: bool
    answered: bool
    evidence: bool


def rows_of(path: Path) -> list[list[str]]:
    """Reads a table as WikiTableQuestions writes them: UTF-8, quotes escaped by a backslash."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, escapechar="\\", doublequote=False) if row]
    width = max(map(len, rows))
    return [[cell.replace("\r\n", "\n") for cell in row] + [""] * (width - len(row)) for row in rows]


def digest(rows: Sequence[Sequence[str]]) -> str:
    """Gives one word for all cells of a table."""
    return hashlib.sha256(json.dumps([list(row) for row in rows]).encode()).hexdigest()[:16]


def script_of(table: Path) -> str:
    """Writes the script that a model would write for a table of this dialect."""
    return (
        "import csv, hashlib, json\n"
        f"rows = csv.reader(open({table.name!r}, encoding='utf-8', newline=''), escapechar='\\\\', doublequote=False)\n"
        "rows = [row for row in rows if row]\nwidth = max(map(len, rows))\n"
        "rows = [[cell.replace('\\r\\n', '\\n') for cell in row] + [''] * (width - len(row)) for row in rows]\n"
        "print('cells', hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16])"
    )


def reply(question: Question, asked: Asked, called: bool) -> Any:
    """Gives the scripted reply to a request; ``called``: the tools have been called before."""
    prompt = asked.prompt
    if asked.tools or "Call the tools that bring this information now." in prompt:
        return Say(
            "",
            [
                ("inspect_file", {"path": question.table.name}),
                ("run_python_code", {"code": script_of(question.table)}),
            ],
        )
    if "Write into the graph what the new information says" in prompt:
        return f'```python r1\nG.add_node("answer", label="Answer", name="answer", value={question.answer!r})\n```'
    if "You give the final answer to a task" in prompt:
        return f"VALUE: {question.answer}\n{question.answer}"
    if "You check whether a partial answer still needs a calculation." in prompt:
        return "NO"
    if called:
        return 'SOLVE\nThe answer is there.\n```python\nresult = G.nodes["answer"]["value"]\n```'
    return "ENHANCE\nThe table has not been read."


async def run(question: Question) -> Outcome:
    """Runs one question."""
    sink = MemorySink()
    seen = {"called": False}

    def script(asked: Asked) -> Any:
        said = reply(question, asked, seen["called"])
        seen["called"] = seen["called"] or isinstance(said, Say)
        return said

    settings = {"backend": "networkx", "tools.inspect_file.tokens": ENOUGH_TOKENS, "format": "gaia"}
    models = {"graph": ScriptedModel(script)}
    async with kgot_core.open(settings, models=models, runs=None, sinks=[sink]) as session:
        answer = await session.solve(question.text, attachments=[question.table])
    called = {record["tool"]: record for record in sink.records if record["kind"] == "tool_called"}
    want = rows_of(question.table)
    lines = [line for line in str(called["inspect_file"]["text"]).split("\n") if line.startswith("|")]
    got = [cells(line) for line in [*lines[:1], *lines[2:]]]
    evidence = [source for item in answer.evidence for source in item.sources]
    return Outcome(
        inspected=got == want,
        script=f"cells {digest(want)}" in str(called["run_python_code"]["text"]),
        answered=answer.text == question.answer,
        evidence=any(str(called["inspect_file"]["step"]) == source for source in evidence),
    )


def questions_of(folder: Path) -> list[Question]:
    """Reads the questions of a folder."""
    lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
    items = [json.loads(line) for line in lines if line.strip()]
    return [Question(item["id"], item["question"], folder / item["table"], ", ".join(item["answer"])) for item in items]


def main() -> int:
    """Runs all questions of a folder and prints what came out; 1 where any table lost a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    questions = questions_of(parser.parse_args().folder)
    outcomes = []
    for question in questions:
        outcome = asyncio.run(run(question))
        outcomes.append(outcome)
        if not all(vars(outcome).values()):
            print(question.id, question.table.name, outcome)
    for name in ("inspected", "script", "answered", "evidence"):
        print(f"{name}: {sum(getattr(outcome, name) for outcome in outcomes)} of {len(outcomes)}")
    return int(not all(all(vars(outcome).values()) for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
