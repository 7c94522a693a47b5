"""A LangChain chat model whose replies are scripted; for tests without a server."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, PrivateAttr

from kgot_core.models.tokens import estimate_tokens


@dataclass(frozen=True)
class Say:
    """One sample of a reply.

    Attributes:
        text: Its text.
        tool_calls: Names and arguments of the tools called.
        truncated: It was cut off by the token limit.
    """

    text: str = ""
    tool_calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    truncated: bool = False


@dataclass(frozen=True)
class Asked:
    """A request that the model got.

    Attributes:
        messages: The messages.
        arguments: All else: ``n``, ``tools``, ``temperature``, ...
        index: Number of the request, from 0.
    """

    messages: tuple[BaseMessage, ...]
    arguments: Mapping[str, Any]
    index: int

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        return "\n".join(str(message.content) for message in self.messages)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools on offer."""
        return tuple(tool["function"]["name"] for tool in self.arguments.get("tools", ()))


Scripted: TypeAlias = str | Say | Exception | Sequence[str | Say]
Script: TypeAlias = Callable[[Asked], Scripted | Awaitable[Scripted]] | Sequence[Scripted]


class ScriptedModel(BaseChatModel):
    """Replies from a script: a function of the request, or a list with one entry for each request.

    An entry is a text or a :class:`Say` (given for each sample that the request asks for), a list of those (one for
    each sample), or an exception, which is raised. The function may be a coroutine function. Requests seen are in
    :attr:`requests`.

    Attributes:
        script: The function or list.
        n: Samples for each request that asks for no number.
        several: Offers several samples in one request; otherwise gives one, whatever is asked for.
        calls_tools: Offers tool calling.
        name_of_model: Name that it reports.
        cached_tokens: Part of each prompt that is reported as read from a cache.
        temperature: Sampling temperature; taken and recorded, without effect.
        max_tokens: Limit of a reply; taken and recorded, without effect.
        response_format: Form of a reply; taken and recorded, without effect.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    script: Any
    n: int = 1
    several: bool = True
    calls_tools: bool = True
    name_of_model: str = "scripted"
    cached_tokens: int = 0
    temperature: float | None = None
    max_tokens: int | None = None
    response_format: Any = None
    _requests: list[Asked] = PrivateAttr(default_factory=list)

    def __init__(self, script: Script, **settings: Any) -> None:
        super().__init__(script=script, **settings)

    @property
    def requests(self) -> list[Asked]:
        """The requests seen, first to last."""
        return list(self._requests)

    @property
    def _llm_type(self) -> str:
        return "kgot-scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Offers tools.

        Raises:
            NotImplementedError: The model was made without tool calling.
        """
        if not self.calls_tools:
            raise NotImplementedError("this model calls no tools")
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = self._saw(messages, kwargs)
        return self._result(asked, self._entry(asked))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = self._saw(messages, kwargs)
        entry = self._entry(asked)
        return self._result(asked, await entry if inspect.isawaitable(entry) else entry)

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None]) -> dict[str, Any]:
        return next((output for output in llm_outputs if output), {})

    def _saw(self, messages: list[BaseMessage], arguments: Mapping[str, Any]) -> Asked:
        asked = Asked(tuple(messages), dict(arguments), len(self._requests))
        self._requests.append(asked)
        return asked

    def _entry(self, asked: Asked) -> Any:
        if callable(self.script):
            try:
                return self.script(asked)
            except Exception as error:  # a fault of the test, not of a model: it must not be tried again
                raise AssertionError(f"the script failed: {type(error).__name__}: {error}") from error
        if asked.index >= len(self.script):
            raise AssertionError(f"the script ends after {len(self.script)} requests, and one more came")
        return self.script[asked.index]

    def _result(self, asked: Asked, entry: Any) -> ChatResult:
        samples = self._samples(entry, int(asked.arguments.get("n") or self.n) if self.several else 1)
        prompt = estimate_tokens(asked.prompt + json.dumps(asked.arguments.get("tools") or ""))
        written = sum(map(estimate_tokens, (f"{say.text}{json.dumps(list(say.tool_calls) or '')}" for say in samples)))
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }
        told = {"token_usage": usage, "model_name": self.name_of_model}
        return ChatResult(generations=[_generation(say, asked.index) for say in samples], llm_output=told)

    def _samples(self, entry: Any, wanted: int) -> list[Say]:
        if isinstance(entry, Exception):
            raise entry
        items = [entry] * wanted if isinstance(entry, str | Say) else list(entry)[:wanted]
        if len(items) < wanted:
            raise AssertionError(f"the script gives {len(items)} samples, the request asks for {wanted}")
        return [Say(item) if isinstance(item, str) else item for item in items]


def _generation(say: Say, index: int) -> ChatGeneration:
    calls = [
        {"name": name, "args": dict(arguments), "id": f"call_{index}_{number}", "type": "tool_call"}
        for number, (name, arguments) in enumerate(say.tool_calls, 1)
    ]
    ended = "length" if say.truncated else ("tool_calls" if calls else "stop")
    message = AIMessage(content=say.text, tool_calls=calls)
    return ChatGeneration(message=message, generation_info={"finish_reason": ended})
