"""What a scripted OpenAI-compatible server can say, and how it looks on the wire."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Say:
    """One sample of a reply.

    Attributes:
        text: Its content; ``None`` is sent as null.
        tool_calls: Names and arguments of the tools called; arguments are a mapping, or a text that is sent as it is.
        finish_reason: Why it ended; ``tool_calls`` or ``stop`` where empty.
        prompt_tokens: Tokens of the prompt; counted where ``None``.
        completion_tokens: Tokens of this sample; counted where ``None``.
        cached_tokens: Tokens of the prompt that came from a cache.
    """

    text: str | None = ""
    tool_calls: Sequence[tuple[str, Any]] = ()
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0


@dataclass(frozen=True)
class HttpError:
    """An error status with OpenAI's error body."""

    status: int
    message: str = "the server failed"
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Gives the body."""
        return {"error": {"message": self.message, "code": self.code or None, "param": self.param or None}}


@dataclass(frozen=True)
class Broken:
    """Half of an answer: with the length of the whole and a closed ``connection``, or with its own length."""

    connection: bool = False


@dataclass(frozen=True)
class Hang:
    """The head of an answer, then nothing until the server closes."""

    seconds: float = 3_600.0


@dataclass(frozen=True)
class Dropped:
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class NoChoices:
    """A good answer whose list of choices is empty."""


Fault: TypeAlias = HttpError | Broken | Hang | Dropped
ScriptResult: TypeAlias = str | Say | Sequence[str | Say] | NoChoices | Fault
Script: TypeAlias = Callable[[dict[str, Any], int], ScriptResult]


def completion_body(
    payload: Mapping[str, Any], result: ScriptResult, *, ignore_n: bool, count: Callable[[str], int]
) -> dict[str, Any]:
    """Builds the body of a good answer. A single reply stands for each of the ``n`` samples asked for."""
    wanted = 1 if ignore_n else int(payload.get("n") or 1)
    samples = [] if isinstance(result, NoChoices) else _samples(result, wanted)
    prompt = next((say.prompt_tokens for say in samples if say.prompt_tokens is not None), None)
    prompt = count(prompt_text(payload)) if prompt is None else prompt
    written = sum(_written(say, count) for say in samples)
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": payload.get("model", ""),
        "choices": [_choice(index, say) for index, say in enumerate(samples)],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
            "prompt_tokens_details": {"cached_tokens": samples[0].cached_tokens if samples else 0},
        },
    }


def embedding_body(payload: Mapping[str, Any], embed: Callable[[str], Sequence[float]]) -> dict[str, Any]:
    """Builds the answer to a request for embeddings, as numbers or, where they are asked for so, as base64."""
    texts = [payload["input"]] if isinstance(payload["input"], str) else payload["input"]
    vectors: list[Any] = [list(embed(text)) for text in texts]
    if payload.get("encoding_format") == "base64":
        vectors = [base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in vectors]
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": payload.get("model", ""), "usage": usage}


def prompt_text(payload: Mapping[str, Any]) -> str:
    """Gives all of a request that counts as prompt: tools, response format, messages, each as JSON."""
    parts = (payload.get("tools"), payload.get("response_format"), payload.get("messages"))
    return "\n".join(json.dumps(part, ensure_ascii=False) for part in parts if part)


def _samples(result: ScriptResult, wanted: int) -> list[Say]:
    if isinstance(result, str | Say):
        return [_say(result)] * wanted
    if isinstance(result, Sequence):
        if len(result) < wanted:
            raise ValueError(f"the script gave {len(result)} samples, the request asks for {wanted}")
        return [_say(item) for item in result[:wanted]]
    raise TypeError(f"a script gives no {type(result).__name__}")


def _say(item: str | Say) -> Say:
    return Say(item) if isinstance(item, str) else item


def _written(say: Say, count: Callable[[str], int]) -> int:
    if say.completion_tokens is not None:
        return say.completion_tokens
    return count((say.text or "") + "".join(f"{name} {_arguments(given)}" for name, given in say.tool_calls))


def _choice(index: int, say: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.tool_calls:
        message["tool_calls"] = [
            {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": _arguments(given)}}
            for number, (name, given) in enumerate(say.tool_calls, 1)
        ]
    ended = say.finish_reason or ("tool_calls" if say.tool_calls else "stop")
    return {"index": index, "finish_reason": ended, "message": message}


def _arguments(given: Any) -> Any:
    return json.dumps(given, ensure_ascii=False) if isinstance(given, Mapping) else given
