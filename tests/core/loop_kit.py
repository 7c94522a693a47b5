"""Runs whole tasks against a model that recognises what it is asked, for the tests of the loop and its stages."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import kgot_core
from kgot_core.contracts.model import Completion, Reply, Request, ToolCallRequest
from kgot_core.contracts.task import Answer, Task, Usage
from kgot_core.errors import ContextOverflow
from kgot_core.graph.fold import TaskGraph
from kgot_core.models.tokens import estimate_tokens
from kgot_core.sinks.memory import MemorySink

_words = runpy.run_path(str(Path(__file__).with_name("kit_words.py")))
Words, DIALECT = _words["Words"], _words["DIALECT"]
QUESTION = "How deep is the lake that feeds the river Ulmet?"
# What each kind of request says of itself; the first that fits counts.
MARKS = {
    "judge": "Several attempts disagree",
    "rest": "was cut off before its end",
    "refused": "could not be written",
    "facts": "<facts_form",
    "extract": "Write into the graph what the new information",
    "decide": "Can the task be answered completely",
    "choose_again": "<calls_that_could_not_be_made>",
    "choose": "Call the tools that bring",
    "repair": "<failed_statement",
    "retrieve": "Write one query",
    "direct": "Answer the task from the graph",
    "compute": "You check whether a partial answer",
    "mend_code": "<task_of_the_script>",
    "parse": "You give the final answer",
    "ask_llm": "Answer the question as exactly",
}


@dataclass(frozen=True)
class Asked:
    """A request that the model got; ``number`` counts those of its stage, from 1."""

    stage: str
    request: Request
    n: int
    number: int

    @property
    def tail(self) -> str:
        """The last message."""
        return self.request.messages[-1].text

    @property
    def prompt(self) -> str:
        """All messages."""
        return "\n".join(message.text for message in self.request.messages)


Say: TypeAlias = str | Completion | BaseException | Sequence["str | Completion"]
Answers: TypeAlias = "Say | Callable[[Asked], Say]"


def cut(text: str) -> Completion:
    """A reply that the token limit cut off."""
    return Completion(text, truncated=True)


def call(name: str, **arguments: Any) -> ToolCallRequest:
    """A tool call as a model asks for it."""
    return ToolCallRequest(name, arguments)


def calls(*requests: ToolCallRequest, text: str = "") -> Completion:
    """A reply that calls tools."""
    return Completion(text, requests)


def turns(*replies: Say) -> Callable[[Asked], Say]:
    """Another reply for each request of a stage; the last one stays."""
    return lambda asked: replies[min(asked.number, len(replies)) - 1]


class StageModel:
    """A model that answers each stage as told.

    Args:
        answers: What each stage of ``MARKS`` is answered with: a reply for every sample, a list with one for each
            sample, an exception, or a function of the request.
        at_once: Several samples come with one request.
        window: Longer prompts overflow, in tokens.
    """

    def __init__(self, answers: Mapping[str, Answers], *, at_once: bool = True, window: int = 0) -> None:
        self.samples_at_once = at_once
        self.asked: list[Asked] = []
        self._answers = answers
        self._window = window

    @property
    def learned(self) -> Mapping[str, Any]:
        """Nothing: there is no server behind it."""
        return {}

    def learn(self, learned: Mapping[str, Any]) -> None:
        """Does nothing."""

    async def ask(self, request: Request, n: int = 1, on_retry: Any = None) -> Reply:
        """Answers as a model would."""
        await asyncio.sleep(0)
        tail = request.messages[-1].text
        stage = next((name for name, mark in MARKS.items() if mark in tail), "other")
        asked = Asked(stage, request, n, 1 + sum(earlier.stage == stage for earlier in self.asked))
        self.asked.append(asked)
        size = sum(estimate_tokens(message.text) for message in request.messages)
        if self._window and size > self._window:
            raise ContextOverflow(f"{size} tokens are more than {self._window}")
        answer = self._answers[stage]
        said: Any = answer(asked) if callable(answer) else answer
        if isinstance(said, BaseException):
            raise said
        samples = [said] * n if isinstance(said, str | Completion) else list(said)[:n]
        completions = tuple(item if isinstance(item, Completion) else Completion(item) for item in samples)
        written = sum(estimate_tokens(item.text) for item in completions)
        return Reply(completions, Usage(requests=1, input_tokens=size, output_tokens=written), "staged")


@dataclass
class Done:
    """A run that has ended."""

    answer: Answer
    model: StageModel
    records: list[Mapping[str, Any]]

    @property
    def asked(self) -> list[Asked]:
        """All requests."""
        return self.model.asked

    @property
    def stages(self) -> list[str]:
        """The stage of each request."""
        return [asked.stage for asked in self.asked]

    def at(self, stage: str) -> list[Asked]:
        """The requests of a stage."""
        return [asked for asked in self.asked if asked.stage == stage]

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """The events of a kind."""
        return [record for record in self.records if record["kind"] == kind]

    @property
    def notices(self) -> list[str]:
        """The lines for the user."""
        return [record["text"] for record in self.of("notice")]

    @property
    def graph(self) -> TaskGraph:
        """The graph at the end, folded from the changes."""
        from kgot_core.graph.elements import change_from_json

        graph = TaskGraph()
        for record in self.of("graph_written"):
            if not record["error"]:
                graph.apply(change_from_json(record["change"]))
        return graph

    @property
    def nodes(self) -> dict[str, dict[str, Any]]:
        """Properties of each node by its key or name."""
        return {
            node.key or str(node.properties.get("name", node.id)): dict(node.properties) for node in self.graph.nodes
        }

    @property
    def edges(self) -> list[tuple[str, str, str]]:
        """Edges by the names of their ends, sorted."""
        graph = self.graph
        names = {node.id: str(node.properties.get("name", node.key or node.id)) for node in graph.nodes}
        return sorted((names[edge.source], edge.type, names[edge.target]) for edge in graph.edges)


LAKE = 'NODE Lake "Veder" {"depth_m": 61}'
ENHANCE = "ENHANCE\nThe depth of the lake is missing."
SOLVE = 'SOLVE\nIt is there.\n```words\nGET "Veder" depth_m\n```'
SOLVE_DIRECT = "SOLVE\nIt is there.\n```\n61 metres\n```\nBASIS: Veder"
DEFAULTS: Mapping[str, Answers] = {
    "decide": turns(ENHANCE, SOLVE),
    "choose": calls(call("ask_llm", question="How deep is Veder?")),
    "choose_again": calls(call("ask_llm", question="How deep is Veder?")),
    "ask_llm": "Lake Veder is 61 metres deep.",
    "extract": f"```words r1\n{LAKE}\n```",
    "facts": "NOTHING",
    "refused": "NOTHING",
    "rest": "NOTHING",
    "repair": "I do not know.",
    "retrieve": '```words\nGET "Veder" depth_m\n```',
    "direct": "```\n61 metres\n```\nBASIS: Veder",
    "compute": "NO",
    "mend_code": "I do not know.",
    "parse": "VALUE: 61\nThe lake is 61 metres deep.",
    "judge": "CHOICE: 1",
    "other": "",
}


async def solve(
    *,
    question: str = QUESTION,
    files: Sequence[Path] = (),
    settings: Mapping[str, Any] | None = None,
    backend: Any = "words",
    tools: Sequence[Any] = (),
    at_once: bool = True,
    window: int = 0,
    schema: Any = None,
    folder: Path | None = None,
    models: Mapping[str, Any] | None = None,
    **answers: Answers,
) -> Done:
    """Runs a task to its end.

    Args:
        question: The question.
        files: Attachments.
        settings: Settings by dotted key.
        backend: ``words`` for the store of this kit, ``networkx`` for the real one, or an open store.
        tools: Further tools.
        at_once: The model gives several samples in one request.
        window: The model's context in tokens, without limit by default.
        schema: JSON schema of the answer.
        folder: Folder for the run on disk.
        models: Models of other roles than ``graph``.
        answers: What stages are answered with, beside ``DEFAULTS``.
    """
    model = StageModel({**DEFAULTS, **answers}, at_once=at_once, window=window)
    sink = MemorySink()
    chosen: Any = {"backend": Words()} if backend == "words" else {} if backend == "networkx" else {"backend": backend}
    session = kgot_core.open(
        {"backend": ("networkx",), **(settings or {})},
        models={"graph": model, **(models or {})},
        tools=tools,
        sinks=[sink],
        runs=folder,
        schema=schema,
        env={},
        folder=Path(__file__).parent,
        **chosen,
    )
    async with session:
        answer = await session.solve(Task(question, tuple(files)))
    return Done(answer, model, sink.records)
