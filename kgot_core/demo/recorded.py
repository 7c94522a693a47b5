"""A model whose replies are recorded: for the demo."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from kgot_core.contracts.model import Completion, Reply, Request, ToolCallRequest
from kgot_core.contracts.task import Usage
from kgot_core.errors import ModelError
from kgot_core.graph.values import JsonValue
from kgot_core.models.tokens import estimate_tokens

QUESTION = (
    "By how many metres is the highest summit of the attached table that lies in South America higher than the highest"
    " one that lies in Africa?"
)


class RecordedModel:
    """Gives recorded replies, one for each request, in order."""

    samples_at_once = True
    learned: Mapping[str, JsonValue] = MappingProxyType({})

    def __init__(self) -> None:
        text = files("kgot_core.demo").joinpath("replies.toml").read_text(encoding="utf-8")
        self._replies: list[Mapping[str, Any]] = tomllib.loads(text)["reply"]

    def learn(self, learned: Mapping[str, JsonValue]) -> None:
        """Does nothing: there is no server behind it."""

    async def ask(self, request: Request, n: int = 1, on_retry: Any = None) -> Reply:
        """Gives the next recorded reply.

        Raises:
            ModelError: All have been given.
        """
        if not self._replies:
            raise ModelError("the demo has no further recorded reply")
        reply = self._replies.pop(0)
        calls = tuple(ToolCallRequest(call["name"], call["arguments"]) for call in reply.get("tool_calls", ()))
        completions = tuple(Completion(text, calls) for text in reply["samples"][:n])
        usage = Usage(
            requests=1,
            input_tokens=sum(estimate_tokens(message.text) for message in request.messages),
            output_tokens=sum(estimate_tokens(completion.text) for completion in completions),
        )
        return Reply(completions, usage, "recorded replies")
