"""Clients of scripted servers that do not sleep, for the tests of models."""

from __future__ import annotations

from typing import Any

from kgot_core.contracts.model import Request, system, user
from kgot_core.models.client import ModelClient
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.models.retry import RetryPolicy
from kgot_core.testing.openai_server import OpenAIServer

ASK = Request((system("Be short."), user("What is the capital of France?")))
OPENAI = next(provider for provider in MODEL_PROVIDERS if provider.name == "openai")


async def no_sleep(seconds: float) -> None:
    """Waits not at all."""


def client_for(server: OpenAIServer, attempts: int = 6, **settings: Any) -> ModelClient:
    """Gives a client of a server, with retries that do not wait."""
    spec = server.spec(**settings)
    return ModelClient(OPENAI.open(None, spec), spec, attempts=attempts, policy=RetryPolicy(sleep=no_sleep), owned=True)
