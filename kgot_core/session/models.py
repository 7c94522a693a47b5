"""Opens the models of a session: one client for each distinct model, shared by the roles that name it."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from kgot_core.contracts.model import ModelSpec, Role
from kgot_core.errors import UsageError
from kgot_core.models.client import ModelClient
from kgot_core.models.embedding import EmbeddingClient
from kgot_core.models.retry import RetryPolicy
from kgot_core.plugins import PluginRegistry
from kgot_core.run.desks.embedding import Embedder
from kgot_core.run.desks.model import Client
from kgot_core.session.checks import opened, problem_of_model
from kgot_core.settings import Settings, provider_settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

EMBEDDING: Literal["embedding"] = "embedding"


def open_models(
    registry: PluginRegistry,
    settings: Settings,
    given: Mapping[str, Any],
    tools_prompt: str,
    share: Callable[[], float] = lambda: 1.0,
) -> tuple[dict[str, Client], dict[str, str]]:
    """Opens the chat models of all roles that have one; roles that name the same one share its client.

    Args:
        registry: The plugins.
        settings: The settings in force.
        given: Chat models of LangChain, or clients, by role.
        tools_prompt: Text that describes tools to a model without tool calling.
        share: Gives the share of requests and tokens a minute that is this process's.

    Returns:
        Clients and names by role.

    Raises:
        UsageError: No model is set, or one is not ready.
        PluginError: A model provider is not installed.
    """
    _refuse_unknown(given)
    policy = RetryPolicy(attempts=settings.core.loop.max_llm_attempts)
    clients: dict[str, Client] = {}
    names: dict[str, str] = {}
    shared: dict[Any, Client] = {}
    for role in get_args(Role):
        if role == EMBEDDING:
            continue
        if role in given:
            model = given[role]
            if id(model) not in shared:
                shared[id(model)] = (
                    model
                    if hasattr(model, "samples_at_once")
                    else ModelClient(model, policy=policy, tools_prompt=tools_prompt)
                )
            clients[role], names[role] = shared[id(model)], type(model).__name__
            continue
        # A role without a model of its own falls back to graph, which may have been passed in code.
        if "graph" in given and not settings.raw("models", role).get("model"):
            continue
        spec = settings.model(role)
        if spec is None:
            continue
        key = f"{spec.provider}:{spec.name}:{sorted((name, str(value)) for name, value in spec.settings.items())}"
        if key not in shared:
            model = _open(registry, spec, role, settings)
            shared[key] = ModelClient(model, spec, policy=policy, owned=True, tools_prompt=tools_prompt, share=share)
        clients[role], names[role] = shared[key], f"{spec.provider}:{spec.name}"
    if "graph" not in clients:
        raise UsageError(
            "no model is set",
            hint="name one with --model, for example openai:gpt-4o-mini or ollama:qwen2.5:7b, or set models.graph",
        )
    return clients, names


def refuse_unpriced(clients: Mapping[str, Client | Embedder], names: Mapping[str, str], section: str = "caps") -> None:
    """Refuses a cap on the cost where a price is unknown: it could not be kept.

    Args:
        clients: Clients by role.
        names: Their names by role.
        section: Where the cap is set, ``caps`` or ``batch``.

    Raises:
        UsageError: A model's price is unknown.
    """
    for role, client in clients.items():
        if not getattr(client, "priced", False):
            prices = f"models.{role}.input_price and output_price"
            raise UsageError(
                f"{section}.max_cost cannot be kept: the price of {names[role]} is unknown",
                hint=f"set {prices} in dollars a million tokens, or {section}.max_tokens",
            )


def open_embedding(
    registry: PluginRegistry,
    settings: Settings,
    given: Mapping[str, Any],
    share: Callable[[], float] = lambda: 1.0,
) -> tuple[Embedder | None, dict[str, str]]:
    """Opens the embedding model, if one is set; no other role's model takes its place.

    Args:
        registry: The plugins.
        settings: The settings in force.
        given: Models that were passed in code, by role.
        share: Gives the share of requests and tokens a minute that is this process's.

    Returns:
        Its client, and its name by its role; neither where there is none.

    Raises:
        UsageError: It is not ready, or its provider has no embedding models.
        PluginError: Its provider is not installed.
    """
    policy = RetryPolicy(attempts=settings.core.loop.max_llm_attempts)
    if EMBEDDING in given:
        model = given[EMBEDDING]
        return EmbeddingClient(model, policy=policy), {EMBEDDING: type(model).__name__}
    spec = settings.model(EMBEDDING)
    if spec is None:
        return None, {}
    provider = _ready(registry, spec, EMBEDDING)
    opened_model = opened(provider, lambda: provider.embed(provider_settings(settings, provider), spec))
    return EmbeddingClient(opened_model, spec, policy=policy, owned=True, share=share), {
        EMBEDDING: f"{spec.provider}:{spec.name}"
    }


async def close_models(clients: Iterable[Any], given: Iterable[Any]) -> None:
    """Closes clients, except those that were passed in code."""
    kept = {id(model) for model in given}
    for client in {id(client): client for client in clients}.values():
        close = getattr(client, "aclose", None)
        if close is not None and id(client) not in kept:
            # A client that cannot be closed must not hide what the session was used for.
            with contextlib.suppress(Exception):
                await close()


def _refuse_unknown(given: Mapping[str, Any]) -> None:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    for role, model in given.items():
        if role not in get_args(Role):
            near = difflib.get_close_matches(role, get_args(Role), n=1) or get_args(Role)
            raise UsageError(f"there is no model role {role!r}", hint=f"did you mean {' or '.join(near)}?")
        kind, what = (Embeddings, "embedding") if role == EMBEDDING else (BaseChatModel, "chat")
        if not isinstance(model, kind) and not (hasattr(model, "samples_at_once") and role != EMBEDDING):
            raise UsageError(
                f"the model of {role} is a LangChain {what} model, not {type(model).__name__}",
                hint=f"the name of a model goes into the settings, as models.{role}",
            )


def _open(registry: PluginRegistry, spec: ModelSpec, role: Role, settings: Settings) -> BaseChatModel:
    provider = _ready(registry, spec, role)
    return cast("BaseChatModel", opened(provider, lambda: provider.open(provider_settings(settings, provider), spec)))


def _ready(registry: PluginRegistry, spec: ModelSpec, role: Role) -> Any:
    provider: Any = registry.get("model", spec.provider)
    if problem := problem_of_model(provider, spec, role):
        raise UsageError(f"model {spec.provider}:{spec.name}: {problem.message}", hint=problem.hint)
    return provider
