"""The core's own model providers: ``openai``, ``ollama`` and ``import``. Importing this loads no client."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kgot_core.contracts.model import ModelSpec
from kgot_core.errors import KgotError
from kgot_core.models.addresses import OPENAI, openai_address, openai_key
from kgot_core.models.settings import read_settings
from kgot_core.providers import ModelProvider, Problem

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

__all__ = ["MODEL_PROVIDERS", "reachable"]


async def reachable(spec: ModelSpec, seconds: float = 5.0) -> Problem | None:
    """Tells what is wrong with a model's server; see :func:`kgot_core.models.reach.reachable`."""
    from kgot_core.models import reach

    return await reach.reachable(spec, seconds)


def _open_openai(settings: Any, spec: ModelSpec) -> BaseChatModel:
    from kgot_core.models.openai import open_openai

    return open_openai(spec.name, read_settings(spec))


def _open_ollama(settings: Any, spec: ModelSpec) -> BaseChatModel:
    from kgot_core.models.ollama import open_ollama

    return open_ollama(spec.name, read_settings(spec))


def _open_imported(settings: Any, spec: ModelSpec) -> BaseChatModel:
    from kgot_core.models.imported import open_imported

    return open_imported(spec.name, read_settings(spec))


def _embed_openai(settings: Any, spec: ModelSpec) -> Embeddings:
    from kgot_core.models.openai import open_openai_embedding

    return open_openai_embedding(spec.name, read_settings(spec))


def _embed_ollama(settings: Any, spec: ModelSpec) -> Embeddings:
    from kgot_core.models.ollama import open_ollama_embedding

    return open_ollama_embedding(spec.name, read_settings(spec))


def _embed_imported(settings: Any, spec: ModelSpec) -> Embeddings:
    from kgot_core.models.imported import open_imported_embedding

    return open_imported_embedding(spec.name, read_settings(spec))


def _check_openai(settings: Any) -> Problem | None:
    if missing := _missing("openai", "langchain_openai"):
        return missing
    try:
        read = read_settings(settings)
        own_server = urlsplit(openai_address(read)).hostname != urlsplit(OPENAI).hostname
    except KgotError as error:
        return Problem(error.message, error.hint)
    if openai_key(read) or own_server:
        return None
    return Problem(
        "there is no key for OpenAI",
        "set OPENAI_API_KEY or models.<role>.api_key; for a server of your own set OPENAI_BASE_URL",
    )


def _check_ollama(settings: Any) -> Problem | None:
    return _missing("ollama", "langchain_ollama") or _unsound(settings)


def _check_imported(settings: Any) -> Problem | None:
    if isinstance(settings, ModelSpec):
        from kgot_core.models.imported import split_path

        try:
            package = split_path(settings.name)[0].partition(".")[0]
        except KgotError as error:
            return Problem(error.message, error.hint)
        if find_spec(package) is None:
            return Problem(f"the package {package} is not installed", "install it beside kgot-core")
    return _unsound(settings)


def _unsound(settings: Any) -> Problem | None:
    try:
        read_settings(settings)
    except KgotError as error:
        return Problem(error.message, error.hint)
    return None


def _missing(extra: str, package: str) -> Problem | None:
    if find_spec(package) is not None:
        return None
    from kgot_core.plugins.known import extra_hint

    return Problem(f"the client for {extra}: models is not installed ({package})", extra_hint(extra))


MODEL_PROVIDERS: tuple[ModelProvider, ...] = (
    ModelProvider(
        name="openai",
        summary="Models of OpenAI and of any server that speaks its protocol, for example openai:gpt-4o-mini.",
        check=_check_openai,
        open=_open_openai,
        embed=_embed_openai,
    ),
    ModelProvider(
        name="ollama",
        summary="Models that Ollama serves, for example ollama:qwen2.5:7b.",
        check=_check_ollama,
        open=_open_ollama,
        embed=_embed_ollama,
    ),
    ModelProvider(
        name="import",
        summary="Any LangChain model by its import path, for example import:package.module.Class.",
        check=_check_imported,
        open=_open_imported,
        embed=_embed_imported,
    ),
)
