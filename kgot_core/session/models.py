"""Opens the models of a session: one client for each distinct model, shared by the roles that name it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from kgot_core.contracts.model import ModelSpec, Role
from kgot_core.errors import UsageError
from kgot_core.models.client import ModelClient
from kgot_core.models.retry import RetryPolicy
from kgot_core.plugins import PluginRegistry
from kgot_core.run.model import Client
from kgot_core.settings import Settings, provider_settings


def open_models(
    registry: PluginRegistry, settings: Settings, given: Mapping[str, Any]
) -> tuple[dict[str, Client], dict[str, str]]:
    """Opens the models of all roles that have one; roles that name the same one share its client.

    Args:
        registry: The plugins.
        settings: The settings in force.
        given: Chat models of LangChain, or clients, by role.

    Returns:
        Clients and names by role.

    Raises:
        UsageError: No model is set, or one is not ready.
        PluginError: A model provider is not installed.
    """
    policy = RetryPolicy(attempts=settings.core.loop.max_llm_attempts)
    clients: dict[str, Client] = {}
    names: dict[str, str] = {}
    shared: dict[str, Client] = {}
    for role in get_args(Role):
        if role in given:
            model = given[role]
            clients[role] = model if hasattr(model, "samples_at_once") else ModelClient(model, policy=policy)
            names[role] = type(model).__name__
            continue
        # A role without a model of its own falls back to graph, which may have been passed in code.
        if "graph" in given and not settings.raw("models", role).get("model"):
            continue
        spec = settings.model(role)
        if spec is None:
            continue
        key = f"{spec.provider}:{spec.name}:{sorted((name, str(value)) for name, value in spec.settings.items())}"
        if key not in shared:
            shared[key] = _open(registry, settings, spec, policy)
        clients[role], names[role] = shared[key], f"{spec.provider}:{spec.name}"
    if "graph" not in clients:
        raise UsageError(
            "no model is set",
            hint="name one with --model, for example openai:gpt-4o-mini or ollama:qwen2.5:7b, or set models.graph",
        )
    return clients, names


def _open(registry: PluginRegistry, settings: Settings, spec: ModelSpec, policy: RetryPolicy) -> Client:
    provider: Any = registry.get("model", spec.provider)
    if problem := provider.check(spec):
        raise UsageError(f"model {spec.provider}:{spec.name}: {problem.message}", hint=problem.hint)
    model = provider.open(provider_settings(settings, provider), spec)
    return ModelClient(model, spec, policy=policy, owned=True)
