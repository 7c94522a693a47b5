"""Tables reach the model and its scripts without loss, cell for cell, in whole runs with scripted replies.

All fifty tables where the project's data lies beside the checkout; a table of our own everywhere.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
_tables = runpy.run_path(str(ROOT / "benchmarks" / "tables.py"))
run, questions_of = _tables["run"], _tables["questions_of"]
FOLDERS = (Path(__file__).parent / "fixtures" / "tables", ROOT.parent / "shared" / "data" / "tables")
QUESTIONS = [question for folder in FOLDERS if folder.is_dir() for question in questions_of(folder)]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question.id))
async def test_every_cell_is_read_and_the_question_answered(question: Any) -> None:
    outcome = await run(question)
    assert outcome.inspected, "inspect_file lost or changed a cell"
    assert outcome.script, "a script in the sandbox read other cells"
    assert outcome.answered and outcome.evidence
