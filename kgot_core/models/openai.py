"""Opens ``openai:NAME``: OpenAI, or any server that speaks its protocol."""

from __future__ import annotations

import json
import os
from typing import Any

from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient, Timeout
from pydantic import SecretStr

from kgot_core.models.addresses import openai_address, openai_key, transport_options
from kgot_core.models.settings import ModelSettings
from kgot_core.models.wording import call_as_text

_NO_KEY = "none"  # the openai package insists on a key; servers of one's own mostly take any
_CONNECT_SECONDS = 10.0


class KgotChatOpenAI(ChatOpenAI):
    """ChatOpenAI that keeps a reply whose tool calls are malformed, and hands such a call over as text.

    It also tells with each sample which model answered.
    """

    def _create_chat_result(self, response: Any, *args: Any, **kwargs: Any) -> ChatResult:
        for choice in getattr(response, "choices", None) or ():
            message = getattr(choice, "message", None)
            if message is not None and getattr(message, "tool_calls", None):
                _mend(message)
        result = super()._create_chat_result(response, *args, **kwargs)
        for generation in result.generations:
            generation.message.response_metadata.setdefault("model_name", (result.llm_output or {}).get("model_name"))
        return result


def open_openai(name: str, settings: ModelSettings) -> ChatOpenAI:
    """Opens a chat model."""
    return KgotChatOpenAI(**_client_arguments(name, settings))


def open_openai_embedding(name: str, settings: ModelSettings) -> OpenAIEmbeddings:
    """Opens an embedding model. Texts go as text: to count their tokens the client would download a vocabulary."""
    return OpenAIEmbeddings(**{"check_embedding_ctx_length": False, **_client_arguments(name, settings)})


def _client_arguments(name: str, settings: ModelSettings) -> dict[str, Any]:
    """Gives the arguments of a client.

    It gets HTTP clients of its own: those that langchain-openai keeps for the whole process are bound to the event
    loop that used them first.
    """
    address = openai_address(settings)
    transport = transport_options(address, settings.timeout)
    transport["timeout"] = Timeout(settings.timeout, connect=min(_CONNECT_SECONDS, settings.timeout))
    arguments: dict[str, Any] = {
        "model": name,
        "base_url": address,
        "api_key": SecretStr(openai_key(settings) or _NO_KEY),
        "timeout": transport["timeout"],
        "max_retries": 0,
        "http_client": DefaultHttpxClient(**transport),
        "http_async_client": DefaultAsyncHttpxClient(**transport),
    }
    organization = settings.organization or os.environ.get("OPENAI_ORGANIZATION", "")
    if organization:
        arguments["organization"] = organization
    return {**arguments, **settings.options}


def _mend(message: Any) -> None:
    """Mends the arguments of tool calls that LangChain would refuse together with the whole reply."""
    kept, texts = [], []
    for call in message.tool_calls:
        function = getattr(call, "function", None)
        if function is None:
            kept.append(call)
            continue
        arguments = _arguments(function.arguments)
        if arguments is None or not function.name:
            texts.append(call_as_text(function.name or "", _raw(function.arguments)))
        else:
            function.arguments = arguments
            kept.append(call)
    message.tool_calls = kept or None
    if texts:
        message.content = "\n\n".join([message.content or "", *texts]).strip()


def _arguments(raw: object) -> str | None:
    """Gives arguments as the text of a JSON object, or ``None`` where they are not one."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw, strict=False) if raw.strip() else {}
        except ValueError:
            return None
        if isinstance(raw, str):  # encoded twice
            return _arguments(raw) if raw.strip().startswith("{") else None
    if raw is None:
        raw = {}
    return json.dumps(raw, ensure_ascii=False) if isinstance(raw, dict) else None


def _raw(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
