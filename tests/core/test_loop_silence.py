"""A model that says nothing: now and then, or for good (case D06)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.task import Usage
from kgot_core.models.faults import NothingSaid

SILENCE = NothingSaid("the model kept replying with nothing (in 6 attempts)", usage=Usage(requests=6, input_tokens=60))


@pytest.mark.parametrize("stage", ["choose", "ask_llm", "extract", "facts", "repair", "retrieve", "compute", "parse"])
async def test_a_request_without_an_answer_does_not_end_the_run(kit: ModuleType, stage: str) -> None:
    answers: dict[str, Any] = {
        "decide": kit.turns(kit.ENHANCE, kit.ENHANCE, kit.SOLVE) if stage != "retrieve" else kit.ENHANCE,
        "extract": kit.turns(
            "```words\nMAKE\n```" if stage in ("repair", "facts") else "NOTHING", f"```words\n{kit.LAKE}\n```"
        ),
        "choose": lambda asked: kit.calls(kit.call("ask_llm", question=f"Question {asked.number}")),
        "facts": "(Lake: Veder) depth_m = 61",
    }
    usual = {**kit.DEFAULTS, **answers}[stage]

    def once(asked: Any) -> Any:
        if asked.number == 1:
            return SILENCE
        return usual(asked) if callable(usual) else usual

    done = await kit.solve(
        settings={"loop.max_iterations": 2 if stage == "retrieve" else 7}, **{**answers, stage: once}
    )
    assert done.answer.status == "answered", done.answer
    assert done.notices[0] == SILENCE.message
    silent = [
        record for record in done.of("model_called") if record["completions"] and not record["completions"][0]["text"]
    ]
    assert [record for record in silent if record["usage"]["requests"] == 6 and not record["error"]]
    assert done.answer.usage.requests >= 6


async def test_a_vote_without_an_answer_is_drawn_again(kit: ModuleType) -> None:
    done = await kit.solve(decide=kit.turns(SILENCE, kit.ENHANCE, kit.SOLVE))
    assert done.answer.how == "voted query" and done.of("voted")[0]["counts"] == {"enhance": 5}


async def test_a_model_that_never_says_anything_ends_the_run(kit: ModuleType) -> None:
    done = await kit.solve(**dict.fromkeys(kit.MARKS, SILENCE))
    assert done.answer.status == "failed" and done.answer.reason == SILENCE.message
    assert len(done.asked) == 4 and done.notices == [SILENCE.message]
