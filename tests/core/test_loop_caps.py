"""Caps of a run: what is there is solved from, within the reserve, and nothing is asked beyond a cap."""

from __future__ import annotations

import asyncio
import contextlib
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgot_core
from kgot_core.contracts.options import Caps
from kgot_core.contracts.task import Usage
from kgot_core.errors import CapReached, UsageError
from kgot_core.run.caps import Budget
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.session.compare import difference
from kgot_core.session.library import load_settings
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink


def _spent(done: Any) -> int:
    usage = done.answer.usage
    return int(usage.input_tokens + usage.output_tokens)


async def test_a_cap_on_tokens_solves_from_what_is_there_within_the_reserve(kit: ModuleType) -> None:
    cap = 10_000
    done = await kit.solve(decide=kit.ENHANCE, settings={"caps.max_tokens": cap, "caps.reserve": 0.5})
    assert done.answer.status == "capped" and done.answer.text == "The lake is 61 metres deep."
    assert done.answer.how == "forced query"
    assert "max_tokens = 10,000" in done.answer.reason
    assert len(done.of("cap_hit")) == 1 and 1 <= done.answer.iterations < 7
    assert _spent(done) <= cap


async def test_without_a_cap_the_same_run_uses_more(kit: ModuleType) -> None:
    done = await kit.solve(decide=kit.ENHANCE)
    assert done.answer.status == "answered" and done.of("cap_hit") == [] and _spent(done) > 10_000


async def test_a_cap_that_leaves_no_request_ends_without_one(kit: ModuleType) -> None:
    done = await kit.solve(settings={"caps.max_tokens": 5})
    assert done.answer.status == "no_solution" and done.asked == []
    assert "max_tokens = 5" in done.answer.reason


async def test_a_deadline_ends_a_tool_and_the_run_solves_from_what_is_there(kit: ModuleType) -> None:
    from langchain_core.tools import tool

    @tool
    async def wait_long(word: str) -> str:
        """Waits. Example: wait_long(word="x")."""
        await asyncio.Event().wait()
        return word

    rounds = kit.turns(kit.calls(kit.call("ask_llm", question="How deep?")), kit.calls(kit.call("wait_long", word="x")))
    settings = {"caps.deadline": 0.8, "caps.reserve": 0.5}
    done = await kit.solve(decide=kit.ENHANCE, choose=rounds, tools=[wait_long], settings=settings)
    assert done.answer.status == "capped" and done.answer.text == "The lake is 61 metres deep."
    [stopped] = [record for record in done.of("tool_called") if record["tool"] == "wait_long"]
    assert stopped["failed"] and "deadline = 0.8 s" in stopped["text"]


async def test_a_candidate_whose_parse_a_cap_forbids_is_the_answer(kit: ModuleType) -> None:
    def parse(asked: Any) -> BaseException:
        return CapReached("max_tokens = 1: 1 are used")

    done = await kit.solve(parse=parse, settings={"caps.max_tokens": 10_000_000})
    assert done.answer.status == "capped"
    assert "61" in done.answer.text and "before the final parse" in done.answer.reason


async def test_a_capped_run_repeats_from_its_record(kit: ModuleType, tmp_path: Any) -> None:
    done = await kit.solve(
        decide=kit.ENHANCE,
        backend="networkx",
        extract='```python r1\nG.add_node("Veder", label="Lake", name="Veder", depth_m=61)\n```',
        retrieve='```python\nresult = [{"depth_m": G.nodes["Veder"]["depth_m"]}]\n```',
        settings={"caps.max_tokens": 20_000, "caps.reserve": 0.4},
        folder=tmp_path,
    )
    assert done.answer.status == "capped" and done.answer.folder is not None
    sink = MemorySink()
    registry, _ = load_settings({}, tmp_path, [])
    await replay_run(registry, done.answer.folder, env={}, sinks=[sink])
    assert difference(done.records, sink.records) is None


async def test_a_cap_on_the_cost_is_refused_where_the_price_is_unknown(kit: ModuleType) -> None:
    with pytest.raises(UsageError, match=r"price of .* is unknown.*input_price"):
        await kit.solve(settings={"caps.max_cost": 1.0})


async def test_a_cap_on_the_cost_is_refused_where_the_price_of_embeddings_is_unknown(kit: ModuleType) -> None:
    prices = {"models.graph.input_price": 1, "models.graph.output_price": 1, "models.graph.model": "openai:any"}
    named = {"models.graph.api_key": "sk-x", "models.embedding": "openai:mine", "models.embedding.api_key": "sk-x"}
    settings = {**prices, **named, "caps.max_cost": 1.0}
    with pytest.raises(UsageError, match=r"price of openai:mine is unknown"):
        async with kgot_core.open(settings, env={}, runs=None):
            pass
    async with kgot_core.open({**settings, "models.embedding.input_price": 0.1}, env={}, runs=None):
        pass


async def test_a_cap_in_one_of_several_lets_the_others_come_to_their_end() -> None:
    ended: list[str] = []

    async def capped() -> None:
        raise CapReached("max_tokens = 1")

    async def works() -> None:
        await asyncio.sleep(0)
        ended.append("works")

    with pytest.raises(CapReached):
        await side_by_side([capped(), works()])
    assert ended == ["works"]


@given(
    requests=st.lists(st.tuples(st.integers(1, 400), st.integers(0, 200)), max_size=40),
    cap=st.integers(1, 5_000),
    reserve=st.floats(0, 1),
)
def test_only_the_last_replies_exceed_a_cap(requests: list[tuple[int, int]], cap: int, reserve: float) -> None:
    used = Usage()
    budget = Budget(Caps(max_tokens=cap, reserve=reserve), lambda: used)
    for prompt, reply in requests:
        if not budget.reached(prompt):
            used += Usage(1, prompt, reply)
    kept = cap * (1 - reserve)
    longest = max((reply for _, reply in requests), default=0)
    assert used.input_tokens + used.output_tokens <= kept + longest


@given(prompts=st.lists(st.integers(1, 400), max_size=40), cap=st.integers(1, 5_000), reserve=st.floats(0.01, 1))
async def test_there_is_room_for_an_answer_as_long_as_the_longest_request(
    prompts: list[int], cap: int, reserve: float
) -> None:
    used = Usage()
    budget = Budget(Caps(max_tokens=cap, reserve=reserve), lambda: used)
    made: list[int] = []
    for prompt in prompts:
        with contextlib.suppress(CapReached):
            async with budget.request(prompt):
                made.append(prompt)
            used += Usage(1, prompt, 0, cost=prompt / 1_000)
    budget.release_reserve()
    assert not made or not budget.reached(max(made))


async def test_requests_on_their_way_count() -> None:
    budget = Budget(Caps(max_tokens=100, reserve=0), Usage)
    async with budget.request(60):
        assert "max_tokens" in budget.reached(60)
        with pytest.raises(CapReached):
            async with budget.request(60):
                pass
    assert not budget.reached(60)


@pytest.mark.parametrize(
    ("usage", "cause"),
    [
        (Usage(1, 100, 100, cost=0.05), ""),
        (Usage(1, 100, 100, cost=0.09), "max_cost"),
        (Usage(1, 100, 100, cost=0.01, unpriced=1), "unknown"),
    ],
)
def test_the_cost_of_a_request_is_foreseen_from_those_before(usage: Usage, cause: str) -> None:
    reached = Budget(Caps(max_cost=0.1, reserve=0), lambda: usage).reached(prompt_tokens=100)
    assert cause in reached if cause else not reached
