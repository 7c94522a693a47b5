"""Between the core's own small types and those of LangChain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.model import Completion, Message, ToolCallRequest, ToolSpec
from kgot_core.models.wording import call_as_text

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import Generation, LLMResult

_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})


@dataclass(frozen=True)
class Counted:
    """Token numbers of one request, as the server reports them."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True)
class Answered:
    """What one request brought.

    Attributes:
        completions: The samples, empty ones included.
        counted: Token numbers, ``None`` where the server reports none.
        model: The model that answered; empty where not told.
        endings: Why each sample ended, in the server's words.
    """

    completions: tuple[Completion, ...]
    counted: Counted | None
    model: str
    endings: tuple[str, ...]


def to_langchain(messages: Iterable[Message]) -> list[BaseMessage]:
    """Turns messages into LangChain's."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    made: list[BaseMessage] = []
    for message in messages:
        match message.author:
            case "system":
                made.append(SystemMessage(message.text))
            case "assistant":
                calls = [
                    {
                        "name": call.name,
                        "args": dict(call.arguments),
                        "id": call.id or _call_id(index),
                        "type": "tool_call",
                    }
                    for index, call in enumerate(message.tool_calls)
                ]
                made.append(AIMessage(content=message.text, tool_calls=calls))
            case "tool":
                made.append(ToolMessage(message.text, tool_call_id=message.tool_call_id or _call_id(0)))
            case _:
                made.append(HumanMessage(_content(message)))  # type: ignore[arg-type]
    return made


def tool_to_openai(tool: ToolSpec) -> dict[str, Any]:
    """Turns a tool into the form of the OpenAI API, which every LangChain model takes."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def from_langchain(result: LLMResult) -> Answered:
    """Reads the answer to one request."""
    generations = result.generations[0] if result.generations else []
    told = result.llm_output or {}
    endings = tuple(_ending(generation) for generation in generations)
    completions = tuple(_completion(item, end) for item, end in zip(generations, endings, strict=True))
    named = [_metadata(generation).get("model_name") for generation in generations]
    model = next((str(name) for name in named if name), str(told.get("model_name") or ""))
    return Answered(completions, _counted(told, generations), model, endings)


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    images = [{"type": "image_url", "image_url": {"url": address}} for address in message.images]
    return [{"type": "text", "text": message.text}, *images]


def _call_id(index: int) -> str:
    return f"call_{index + 1}"


def _metadata(generation: Generation) -> Mapping[str, Any]:
    return getattr(getattr(generation, "message", None), "response_metadata", None) or {}


def _ending(generation: Generation) -> str:
    for source in (generation.generation_info or {}, _metadata(generation)):
        for key in ("finish_reason", "done_reason", "stop_reason"):
            if source.get(key):
                return str(source[key]).lower()
        details = source.get("incomplete_details")
        if isinstance(details, Mapping) and details.get("reason"):
            return str(details["reason"]).lower()
    return ""


def _completion(generation: Generation, ending: str) -> Completion:
    message = getattr(generation, "message", None)
    text = _text(message.content) if message is not None else generation.text
    if not text and message is not None:
        text = str(message.additional_kwargs.get("refusal") or "")
    calls = [
        ToolCallRequest(call["name"], call["args"], call["id"] or _call_id(index))
        for index, call in enumerate(getattr(message, "tool_calls", ()))
    ]
    for broken in getattr(message, "invalid_tool_calls", ()):
        if not (broken["args"] or "").strip():
            calls.append(ToolCallRequest(broken["name"] or "", {}, broken["id"] or _call_id(len(calls))))
        else:
            text = f"{text}\n\n{call_as_text(broken['name'] or '', broken['args'] or '')}".strip()
    return Completion(text, tuple(calls), ending in _CUT)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    blocks = (block if isinstance(block, str) else block.get("text") for block in content)
    return "".join(text for text in blocks if isinstance(text, str))


def _counted(told: Mapping[str, Any], generations: Sequence[Generation]) -> Counted | None:
    usage = told.get("token_usage") or told.get("usage")
    if isinstance(usage, Mapping) and usage.get("prompt_tokens") is not None:
        details = usage.get("prompt_tokens_details") or {}
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
        return Counted(int(usage["prompt_tokens"]), int(usage.get("completion_tokens") or 0), int(cached or 0))
    # Without totals for the request each sample carries them; the largest are those of the whole request.
    found = [getattr(getattr(generation, "message", None), "usage_metadata", None) for generation in generations]
    usages = [entry for entry in found if entry]
    if not usages:
        return None
    return Counted(
        max(entry["input_tokens"] for entry in usages),
        max(entry["output_tokens"] for entry in usages),
        max((entry.get("input_token_details") or {}).get("cache_read") or 0 for entry in usages),
    )


def shown(message: Message) -> str:
    """Gives all of a message that counts as prompt, as one text; for estimates."""
    calls = "".join(json.dumps([call.name, dict(call.arguments)], ensure_ascii=False) for call in message.tool_calls)
    return message.text + calls
