"""Opens ``ollama:NAME``: a chat or embedding model that Ollama serves."""

from __future__ import annotations

from typing import Any

from langchain_ollama import ChatOllama, OllamaEmbeddings

from kgot_core.models.addresses import ollama_address, transport_options
from kgot_core.models.settings import ModelSettings


def open_ollama(name: str, settings: ModelSettings) -> ChatOllama:
    """Opens a model. The size of its context is always sent: Ollama's own default cuts prompts off without a word."""
    return ChatOllama(**_arguments(name, settings))


def open_ollama_embedding(name: str, settings: ModelSettings) -> OllamaEmbeddings:
    """Opens an embedding model."""
    return OllamaEmbeddings(**_arguments(name, settings))


def _arguments(name: str, settings: ModelSettings) -> dict[str, Any]:
    address = ollama_address(settings)
    transport = transport_options(address, settings.timeout)
    if settings.api_key:
        transport["headers"] = {"Authorization": f"Bearer {settings.api_key}"}
    arguments = {"model": name, "base_url": address, "num_ctx": settings.num_ctx, "client_kwargs": transport}
    return {**arguments, **settings.options}
