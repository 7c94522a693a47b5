"""Finds out about a chat or embedding model by its attributes, whichever package it comes from."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kgot_core.models.addresses import bare_address
from kgot_core.models.settings import reveal

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

_ADDRESSES = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint")
_HTTP_CLIENTS = ("root_async_client", "root_client", "_async_client", "_client")


def address_of(model: BaseChatModel | Embeddings) -> str:
    """Gives the server's address without user, password and query; empty where unknown."""
    found = getattr(getattr(model, "root_async_client", None), "base_url", None)
    found = found or getattr(_behind(model, "async_client"), "base_url", None)
    for name in _ADDRESSES:
        found = found or getattr(model, name, None)
    found = found or getattr(_behind(model, "_async_client"), "base_url", None)
    return bare_address(str(found)) if found else ""


def secrets_of(model: object) -> set[str]:
    """Collects the secrets that a model holds, so that they can be kept out of messages."""
    found = set()
    for name in getattr(type(model), "model_fields", ()):
        value = getattr(model, name, None)
        if hasattr(value, "get_secret_value"):
            found.add(reveal(value))
        elif name in _ADDRESSES and isinstance(value, str):
            found.add(urlsplit(value).password or "")
    return found - {""}


def name_of(model: BaseChatModel | Embeddings) -> str:
    """Gives a model's name at its provider, or the name of its class."""
    for name in ("model_name", "model", "deployment_name"):
        value = getattr(model, name, None)
        if isinstance(value, str) and value:
            return value
    return type(model).__name__


def provider_of(model: BaseChatModel) -> str:
    """Gives the provider as LangChain's traces name it, for example ``anthropic``; empty where unknown."""
    try:
        return str(model._get_ls_params().get("ls_provider") or "")
    except Exception:  # a model of a third party; its name is wanted for the price only
        return ""


def without_own_retries(model: BaseChatModel) -> BaseChatModel:
    """Gives a model of the OpenAI family that does not retry by itself; the given object stays as it is."""
    client: Any = getattr(model, "root_async_client", None)
    if not getattr(client, "max_retries", 0) or not hasattr(client, "with_options"):
        return model
    quiet = client.with_options(max_retries=0)
    return model.model_copy(
        update={"root_async_client": quiet, "async_client": quiet.chat.completions, "max_retries": 0}
    )


async def close_model(model: BaseChatModel | Embeddings) -> None:
    """Closes the HTTP clients that a model of ours holds."""
    clients = [getattr(model, name, None) for name in _HTTP_CLIENTS]
    clients += [_behind(model, name) for name in ("async_client", "client")]
    for client in clients:
        close = getattr(client, "close", None)
        if close is not None:
            ended = close()
            if inspect.isawaitable(ended):
                await ended


def _behind(model: object, name: str) -> Any:
    """Gives the client behind a part of a client, such as the endpoint of embeddings."""
    return getattr(getattr(model, name, None), "_client", None)
