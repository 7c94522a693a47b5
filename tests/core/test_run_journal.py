"""Runs repeated from their record, also those that failed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.backend import Call
from kgot_core.contracts.task import Answer
from kgot_core.errors import ModelError, ReplayDiverged, SandboxError, StoreUnavailable
from kgot_core.events import ModelCalled, Notice, OutsideCalled
from kgot_core.graph.elements import GraphChange
from kgot_core.run.record.journal import Journal
from kgot_core.session.library import load_settings
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink

VOLATILE = ("seq", "at")


def record_of(folder: Path) -> Path:
    """Gives the record of the only run in a folder."""
    [events] = folder.glob("*/events.jsonl")
    return events


async def again(folder: Path) -> tuple[Answer, list[Mapping[str, Any]]]:
    registry, _ = load_settings({}, folder, [])
    sink = MemorySink()
    return await replay_run(registry, record_of(folder).parent, env={}, sinks=[sink]), sink.records


def plain(records: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in record.items() if name not in VOLATILE} for record in records]


def boom(query: str) -> str:
    """Fails."""
    raise ValueError("closed")


async def _failing_run(kit: ModuleType, folder: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    common: dict[str, Any] = {"folder": folder}
    if case == "whole":
        return await kit.solve(**common, compute="```python\nprint(61)\n```")
    if case == "networkx":
        block = "```python r1\nG.add_node('Veder', label='Lake', depth_m=61, area=float('nan'), seen={3, 1, 2})\n```"
        query = "SOLVE\nx\n```python\nresult = [d for _, d in G.nodes(data=True)]\n```"
        return await kit.solve(**common, backend="networkx", extract=block, decide=kit.turns(kit.ENHANCE, query))
    if case == "statements and tools":
        choose = kit.turns(
            kit.calls(kit.call("bom", query="x")), kit.calls(kit.call("run_python_code", code="print(x)"))
        )
        return await kit.solve(
            **common,
            settings={"loop.max_iterations": 2},
            tools=[boom],
            decide=kit.ENHANCE,
            choose=choose,
            choose_again=kit.calls(kit.call("boom", query="x")),
            extract="```words\nMAKE\n```",
            facts="(Lake: Veder) depth_m = 61\nprose",
            retrieve=kit.turns("```words\nFIND\n```", '```words\nGET "Veder" depth_m\n```'),
        )
    if case == "overflow":
        return await kit.solve(**common, ask_llm="word " * 20_000, window=6_000)
    if case == "model":
        return await kit.solve(**common, compute=ModelError("the key was refused", hint="set models.graph.api_key"))
    if case == "store":
        monkeypatch.setattr("kgot_core.run.desks.store.ATTEMPTS", 1)

        class Away(kit.Words):  # type: ignore[misc, name-defined]
            def write(self, chain: str, call: Call) -> GraphChange | None:
                raise StoreUnavailable("the server is away")

        return await kit.solve(**common, backend=Away())
    if case == "sandbox":
        monkeypatch.setattr("kgot_core.sandboxes.bwrap.sandbox.BwrapSandbox.open", _gone)
        monkeypatch.setattr("kgot_core.sandboxes.monty.sandbox.MontySandbox.open", _gone)
        return await kit.solve(**common, compute="```python\nprint(5)\n```")
    assert case == "side by side"
    blocks = "\n".join(f'```words\nNODE Lake "L{number}"\n```' for number in range(6)) + "\n```words\nMAKE\n```"
    return await kit.solve(
        **common, backend=kit.Words(concurrency=3), extract=blocks, repair=f"```words\n{kit.LAKE}\n```"
    )


def _gone(*given: Any) -> None:
    raise SandboxError("the sandbox cannot be built")


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("whole", "answered"),
        ("networkx", "answered"),
        ("statements and tools", "answered"),
        ("overflow", "answered"),
        ("model", "failed"),
        ("store", "failed"),
        ("sandbox", "answered"),
        ("side by side", "answered"),
    ],
)
async def test_a_run_is_repeated_with_equal_events(
    kit: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, status: str
) -> None:
    done = await _failing_run(kit, tmp_path, case, monkeypatch)
    assert done.answer.status == status, done.answer
    answer, records = await again(tmp_path)
    assert plain(records) == plain(done.records)
    assert (answer.text, answer.status, answer.how, answer.usage) == (
        done.answer.text,
        done.answer.status,
        done.answer.how,
        done.answer.usage,
    )
    assert answer.evidence == done.answer.evidence and answer.reason == done.answer.reason


async def test_a_changed_question_is_told(kit: ModuleType, tmp_path: Path) -> None:
    await kit.solve(folder=tmp_path)
    events = record_of(tmp_path)
    lines = events.read_text().splitlines()
    start = json.loads(lines[0])
    start["question"] = "How long is the river Ulmet?"
    events.write_text("\n".join([json.dumps(start), *lines[1:], ""]))
    with pytest.raises(
        ReplayDiverged, match=r"asks something else than the record at 1/decide/votes-1 \(model_called\)"
    ):
        await again(tmp_path)


async def test_a_changed_prompt_is_told(kit: ModuleType, tmp_path: Path) -> None:
    prompts, runs = tmp_path / "prompts", tmp_path / "runs"
    prompts.mkdir()
    (prompts / "ask_llm.md").write_text("Answer the question as exactly as you can: ${question}")
    await kit.solve(folder=runs, settings={"prompts.dir": str(prompts)})
    assert (await again(runs))[0].status == "answered"
    (prompts / "ask_llm.md").write_text("Answer the question as exactly as may be: ${question}")
    with pytest.raises(ReplayDiverged, match="the prompts have changed"):
        await again(runs)


async def test_a_record_that_ends_early_is_told(kit: ModuleType, tmp_path: Path) -> None:
    await kit.solve(folder=tmp_path)
    events = record_of(tmp_path)
    lines = events.read_text().splitlines()
    events.write_text("\n".join([*lines[:-6], ""]))
    with pytest.raises(ReplayDiverged, match="the record holds no"):
        await again(tmp_path)


async def test_steps_do_not_depend_on_timing_and_are_unique(kit: ModuleType) -> None:
    done = await kit.solve(choose=kit.calls(kit.call("ask_llm", question="a"), kit.call("ask_llm", question="b")))
    calls = [(record["step"], record["kind"]) for record in done.records if "started" in record]
    assert len(calls) == len(set(calls))
    steps = [step for step, kind in calls if kind == "model_called"]
    assert sorted(steps) == sorted(
        [
            "1/decide/votes-1",
            "1/enhance/choose/choice",
            "1/enhance/tools/1/ask-1",
            "1/enhance/tools/2/ask-1",
            "1/enhance/extract/statements/reply",
            "2/decide/votes-1",
            "compute/need",
            "finish/parses-1",
        ]
    )


async def test_a_call_is_recorded_before_its_result_is_used_and_its_parts_come_again() -> None:
    sink = MemorySink()
    journal = Journal("run", None, [sink])

    async def make() -> OutsideCalled:
        journal.emit("a/b", Notice(text="within"))
        return OutsideCalled(stage="tool", value={"x": [1, float("nan")]})

    event = await journal.call(OutsideCalled, "a", {"q": 1}, make)
    assert [record["step"] for record in sink.records] == ["a/b", "a"]

    async def never() -> OutsideCalled:
        raise AssertionError("the call was made again")

    second = MemorySink()
    repeated = Journal("run", None, [second], recorded=sink.records, mode="repeat")
    assert await repeated.call(OutsideCalled, "a", {"q": 1}, never) == event
    assert plain(second.records) == plain(sink.records)
    with pytest.raises(ReplayDiverged, match="asks something else"):
        await repeated.call(OutsideCalled, "a", {"q": 2}, never)
    with pytest.raises(ReplayDiverged, match="holds no model_called at a"):
        await repeated.call(ModelCalled, "a", {"q": 1}, never)  # type: ignore[arg-type]
