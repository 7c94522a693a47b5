"""A tool that embeds texts: recorded, counted, within the run's caps, and not again after a run was broken off."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.tools import StructuredTool

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolContext, ToolResult
from kgot_core.providers import NoSettings, ToolProvider
from kgot_core.run.parts import ToolEntry
from kgot_core.run.record.kept import read_kept
from kgot_core.testing.runs import Ended, Setting, try_in_run

FIXTURES = Path(__file__).parents[1] / "fixtures"
_breaking = runpy.run_path(str(FIXTURES / "library" / "breaking.py"))
_story = _breaking["_story"]


class Lengths(Embeddings):
    """Embeds a text by its length."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.asked: list[list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(texts)
        if self.fault is not None:
            raise self.fault
        return [[1.0, len(text)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def tried(work: Callable[[ToolContext], Any], model: Embeddings | None) -> Ended[ToolResult]:
    """Calls a tool ``measure`` that may embed."""

    def create(settings: NoSettings, context: ToolContext) -> list[Any]:
        async def measure() -> str:
            """Measures."""
            return str(await work(context))

        return [StructuredTool.from_function(coroutine=measure)]

    async def call(run: Run) -> ToolResult:
        return await run.tools.call("1", ToolCallRequest("measure", {}))

    provider = ToolProvider(name="measure", summary="Measures.", create=create, seconds=5)
    return try_in_run(call, Setting(tools=[ToolEntry(provider, NoSettings())], embeddings=model))


def test_each_text_is_asked_for_once_and_counts_as_the_tool_s() -> None:
    async def work(context: ToolContext) -> Any:
        first = await context.embed(["lake", "hills", "lake"])
        again = await context.embed(["hills", "a"])
        return [[vector[1] for vector in vectors or ()] for vectors in (first, again)], context.embedding_model

    model = Lengths()
    ended = tried(work, model)
    assert ended.result.text == "([[4.0, 5.0, 4.0], [5.0, 1.0]], 'scripted')"
    assert model.asked == [["lake", "hills"], ["a"]]
    events = [record for record in ended.records if record["kind"] == "texts_embedded"]
    assert [(event["parent"], event["stage"], event["part"]) for event in events] == [
        ("measure", "tool", "tool invocation")
    ] * 2
    assert all(event["step"].startswith("1/embed-") for event in events)
    assert ended.answer.usage.requests == 2 and ended.answer.usage.input_tokens >= 3


def test_without_a_model_there_are_no_vectors() -> None:
    async def work(context: ToolContext) -> Any:
        return await context.embed(["lake"]), context.embedding_model

    ended = tried(work, None)
    assert ended.result.text == "(None, '')" and "texts_embedded" not in {item["kind"] for item in ended.records}


def test_a_model_that_is_away_fails_the_tool_alone() -> None:
    ended = tried(lambda context: context.embed(["lake"]), Lengths(ConnectionError("no route")))
    assert ended.result.failed and "no route" in ended.result.text and ended.answer.status == "answered"


def session(model: Embeddings, times: int = 1, **settings: Any) -> Any:
    """Opens a session with the tool of ``measuring.py``."""
    story = _story["Story"]("measure", {"times": times}, compute="NO")
    given = {"plugins.load": (str(FIXTURES / "measuring.py"),), **settings}
    return _story["opened"](story, given, tools=(), models={"graph": story.model(), "embedding": model})


async def test_a_run_that_goes_on_does_not_pay_again(tmp_path: Path) -> None:
    async with session(Lengths()) as opened:
        whole = await opened.solve(_story["QUESTION"], folder=tmp_path / "whole")
    records = read_kept(tmp_path / "whole").records
    first = next(number for number, record in enumerate(records) if record["kind"] == "texts_embedded")
    for name, left, asked in (("one", 1, [["Birkfell 450 m "]]), ("both", 2, [])):
        _breaking["cut_off"](tmp_path / "whole", tmp_path / name, first + left)
        model = Lengths()
        async with session(model) as opened:
            answer = await opened.resume(tmp_path / name)
        assert (model.asked, answer.text, answer.usage) == (asked, whole.text, whole.usage)


async def test_the_run_s_caps_bound_it(tmp_path: Path) -> None:
    model = Lengths()
    async with session(model, 50_000, **{"caps.max_tokens": 60_000}) as opened:
        answer = await opened.solve(_story["QUESTION"], folder=tmp_path / "run")
    called = [record for record in read_kept(tmp_path / "run").records if record["kind"] == "tool_called"]
    assert not model.asked and answer.usage.input_tokens < 60_000
    assert called[0]["failed"] and "max_tokens = 60,000" in called[0]["text"]
