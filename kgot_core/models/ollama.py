"""Opens ``ollama:NAME``: a model that Ollama serves."""

from __future__ import annotations

from typing import Any

from langchain_ollama import ChatOllama

from kgot_core.models.addresses import ollama_address, transport_options
from kgot_core.models.settings import ModelSettings


def open_ollama(name: str, settings: ModelSettings) -> ChatOllama:
    """Opens a model. The size of its context is always sent: Ollama's own default cuts prompts off without a word."""
    address = ollama_address(settings)
    transport = transport_options(address, settings.timeout)
    if settings.api_key:
        transport["headers"] = {"Authorization": f"Bearer {settings.api_key}"}
    arguments: dict[str, Any] = {
        "model": name,
        "base_url": address,
        "num_ctx": settings.num_ctx,
        "client_kwargs": transport,
    }
    return ChatOllama(**{**arguments, **settings.options})
