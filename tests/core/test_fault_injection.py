"""A server that fails every fifth request: the run answers as if nothing had happened, and pays little more for it."""

from __future__ import annotations

import random
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.contracts.task import Answer
from kgot_core.models.client import ModelClient
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.models.retry import RetryPolicy
from kgot_core.testing.openai_server import Broken, Dropped, Hang, HttpError, NoChoices, OpenAIServer
from kgot_core.testing.openai_wire import prompt_text

_bench = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "trajectories.py"))
OPENAI = next(provider for provider in MODEL_PROVIDERS if provider.name == "openai")
SHARE = 0.2
FAULTS = (
    HttpError(429, "slow down", headers={"Retry-After": "1"}),
    HttpError(500, "the server fell over"),
    HttpError(503, "busy"),
    Broken(),
    Broken(connection=True),
    NoChoices(),
    Dropped(),
    Hang(),
)
# What the provider has worked on and bills, whether or not the answer arrives whole.
BILLED = (Broken, NoChoices)


class Faulty:
    """The standard trajectory T3, with faults in a share of the requests."""

    def __init__(self, seed: int | None) -> None:
        self._script = _bench["Script"](_bench["Trajectory"]("T3", 3, "query"))
        self._random = None if seed is None else random.Random(seed)
        self.injected: list[Any] = []
        self.billed = 0

    def __call__(self, payload: Mapping[str, Any], index: int) -> Any:
        size = len(prompt_text(payload))
        if self._random is not None and self._random.random() < SHARE:
            self.injected.append(self._random.choice(FAULTS))
            self.billed += size if isinstance(self.injected[-1], BILLED) else 0
            return self.injected[-1]
        self.billed += size
        return self._script(payload, index)


async def _no_sleep(seconds: float) -> None:
    """Waits not at all."""


async def _solve(script: Faulty, refuse: tuple[Any, ...]) -> tuple[Answer, list[Any]]:
    with OpenAIServer(script, refuse=refuse) as server:
        spec = server.spec(timeout=1.0)
        client = ModelClient(OPENAI.open(None, spec), spec, policy=RetryPolicy(sleep=_no_sleep), owned=True)
        events: list[Any] = []
        settings = {"backend": "networkx", "sandbox": "monty"}
        async with kgot_core.open(
            settings, models={"graph": client}, runs=None, env={}, folder=Path(__file__).parent
        ) as session:
            async for event in session.stream(_bench["QUESTION"]):
                events.append(event)
        await client.aclose()
    return events[-1].answer, events


@pytest.mark.parametrize("refuse", [(), ("n",)], ids=["samples at once", "one by one"])
async def test_every_fifth_request_fails_and_the_answer_is_the_same(refuse: tuple[Any, ...]) -> None:
    sound = Faulty(None)
    expected, _ = await _solve(sound, refuse)
    assert expected["status"] == "answered" and expected["text"] == "The archive was founded in 1911."
    injected: list[Any] = []
    billed = 0
    seeds = range(4)
    for seed in seeds:
        faulty = Faulty(seed)
        answer, events = await _solve(faulty, refuse)
        assert {name: answer[name] for name in ("text", "status", "how", "iterations")} == {
            name: expected[name] for name in ("text", "status", "how", "iterations")
        }
        assert [item["text"] for item in answer["evidence"]] == [item["text"] for item in expected["evidence"]]
        assert sum(event.kind == "model_retried" for event in events) >= len(faulty.injected) - 1
        injected += faulty.injected
        billed += faulty.billed
    assert {type(fault) for fault in injected} == {type(fault) for fault in FAULTS}
    assert billed <= 1.25 * len(seeds) * sound.billed
