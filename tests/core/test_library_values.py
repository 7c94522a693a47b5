"""A session whose answers have a value under a schema."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from pydantic import BaseModel, field_validator

from kgot_core.errors import KgotError

_sessions = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "sessions.py"))
_story = _sessions["_story"]
answer_of = _sessions["answer_of"]
quick = _story["quick"]


class Difference(BaseModel):
    metres: int
    hills: list[str]


JSON = '```json\n{"metres": 250, "hills": ["Alderkop", "Birkfell"]}\n```'
SCHEMA = Difference.model_json_schema()


async def test_a_json_schema_fills_the_value() -> None:
    answer = await answer_of(quick(parse=JSON), schema=SCHEMA)
    assert answer.status == "answered" and answer.value == {"metres": 250, "hills": ["Alderkop", "Birkfell"]}


async def test_a_pydantic_class_fills_the_value() -> None:
    answer = await answer_of(quick(parse=["no json", JSON]), schema=Difference)
    assert answer.value == Difference(metres=250, hills=["Alderkop", "Birkfell"])


async def test_a_value_that_never_obeys_is_a_failure_with_its_cause() -> None:
    answer = await answer_of(quick(parse='{"metres": "many", "hills": []}'), schema=Difference)
    assert (answer.status, answer.value) == ("failed", None) and "metres" not in answer.text
    with pytest.raises(KgotError, match="schema"):
        answer.raise_for_status()


async def test_a_class_that_asks_for_more_than_its_schema_says() -> None:
    class Even(Difference):
        @field_validator("metres")
        @classmethod
        def even(cls, value: int) -> int:
            raise ValueError("must be odd")

    answer = await answer_of(quick(parse=JSON), schema=Even)
    assert (answer.status, answer.value) == ("failed", None) and "must be odd" in answer.reason
