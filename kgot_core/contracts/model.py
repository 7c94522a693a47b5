"""A request to a model and its reply, in the core's own small types: they hash the same on every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from kgot_core.contracts.task import JsonSchema, Usage

Role: TypeAlias = Literal["graph", "tool", "judge", "vision", "summary", "embedding"]
Author: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ToolCallRequest:
    """A tool call that a model asked for."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Message:
    """One message of a request.

    Attributes:
        author: Who speaks.
        text: The message.
        tool_calls: Calls that an ``assistant`` message asked for.
        tool_call_id: The call that a ``tool`` message answers.
        images: Images of a ``user`` message, as ``data:`` URLs.
    """

    author: Author
    text: str
    tool_calls: tuple[ToolCallRequest, ...] = ()
    tool_call_id: str = ""
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolSpec:
    """A tool as offered to a model: name, description, and a JSON schema of its arguments."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True)
class Request:
    """Everything that decides a model's reply, except how many samples are wanted.

    Attributes:
        messages: The messages, first to last.
        tools: Tools on offer, in a fixed order.
        schema: JSON schema that the reply should obey, if any.
        temperature: Sampling temperature, ``None`` leaves it to the model's settings.
        max_tokens: Limit of the reply in tokens, ``None`` leaves it to the model's settings.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: JsonSchema | None = None
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True)
class Completion:
    """One sample of a reply.

    Attributes:
        text: The reply's text, reasoning blocks included; empty where only tools are called.
        tool_calls: Tools that the model called.
        truncated: The reply was cut off by a token limit.
    """

    text: str
    tool_calls: tuple[ToolCallRequest, ...] = ()
    truncated: bool = False


@dataclass(frozen=True)
class Reply:
    """All samples of one request, in the provider's order, with what they cost.

    Attributes:
        completions: At least one sample.
        usage: Tokens and cost of all requests that were needed for it.
        model: The model that answered, as the provider names it.
        notices: What had to be done another way, one line each, only at its first time in the run.
    """

    completions: tuple[Completion, ...]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelSpec:
    """A model as named by its user: ``provider:name`` with its settings.

    Attributes:
        provider: The model provider, for example ``openai``.
        name: The model's name there.
        settings: Raw settings of ``models.<role>``, without ``model``.
    """

    provider: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, text: str, settings: Mapping[str, Any] | None = None) -> ModelSpec:
        """Reads ``provider:name``.

        Raises:
            ValueError: There is no colon, or a side of it is empty.
        """
        provider, colon, name = text.partition(":")
        if not (colon and provider.strip() and name.strip()):
            raise ValueError(f"a model is named provider:name, for example openai:gpt-4o-mini, not {text!r}")
        return cls(provider.strip(), name.strip(), settings or {})


def user(text: str) -> Message:
    """Makes a user message."""
    return Message("user", text)


def system(text: str) -> Message:
    """Makes a system message."""
    return Message("system", text)


Messages: TypeAlias = Sequence[Message]
