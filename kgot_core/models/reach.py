"""Tells whether a model's server answers and knows the model; for ``kgot doctor``."""

from __future__ import annotations

from typing import Any

from kgot_core.contracts.model import ModelSpec
from kgot_core.errors import KgotError
from kgot_core.models.addresses import (
    OPENAI,
    bare_address,
    ollama_address,
    openai_address,
    openai_key,
    transport_options,
)
from kgot_core.models.faults import read_error
from kgot_core.models.judgement import Place, judge
from kgot_core.models.redact import Redactor
from kgot_core.models.settings import ModelSettings, read_settings
from kgot_core.providers import Problem

_SECONDS = 5.0


async def reachable(spec: ModelSpec, seconds: float = _SECONDS) -> Problem | None:
    """Asks the server of an ``openai:`` or ``ollama:`` model for its models; costs no tokens.

    Args:
        spec: The model with its settings.
        seconds: How long to wait for an answer.

    Returns:
        What is wrong, or ``None``: all is well, or the provider has no server that could be asked.
    """
    try:
        settings = read_settings(spec, strict=False)
        match spec.provider:
            case "openai":
                return await _ask_openai(spec, settings, seconds)
            case "ollama":
                return await _ask_ollama(spec, settings, seconds)
            case _:
                return None
    except KgotError as error:
        return Problem(error.message, error.hint)


async def _ask_openai(spec: ModelSpec, settings: ModelSettings, seconds: float) -> Problem | None:
    address, key = openai_address(settings), openai_key(settings)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    listed = await _get(spec, f"{address.rstrip('/')}/models", headers, seconds, key)
    if isinstance(listed, Problem):
        return listed
    # Only OpenAI's own list is sure to be complete; some servers take any name.
    names = [str(entry.get("id")) for entry in _entries(listed, "data")]
    if names and bare_address(address) == OPENAI and spec.name not in names:
        return Problem(f"OpenAI does not offer the model {spec.name} to this key", "check the model's name")
    return None


async def _ask_ollama(spec: ModelSpec, settings: ModelSettings, seconds: float) -> Problem | None:
    address = ollama_address(settings)
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    listed = await _get(spec, f"{address.rstrip('/')}/api/tags", headers, seconds, settings.api_key)
    if isinstance(listed, Problem):
        return listed
    names = {str(entry.get("name")) for entry in _entries(listed, "models")}
    wanted = spec.name if ":" in spec.name else f"{spec.name}:latest"
    if wanted not in names:
        return Problem(f"Ollama at {bare_address(address)} has no model {spec.name}", f"ollama pull {spec.name}")
    return None


async def _get(spec: ModelSpec, url: str, headers: dict[str, str], seconds: float, key: str) -> Any | Problem:
    import httpx

    place = Place(f"{spec.provider}:{spec.name}", spec.provider, bare_address(url.rpartition("/")[0]), seconds)
    try:
        async with httpx.AsyncClient(**transport_options(url, seconds)) as client:
            response = await client.get(url, headers=headers)
        if response.status_code in (404, 405):  # not every server lists its models
            return None
        response.raise_for_status()
        return response.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, UnicodeError) as error:
        fault = judge(read_error(error), place, 0.0)
        return Problem(Redactor([key]).line(fault.cause), fault.hint)


def _entries(listed: Any, name: str) -> list[dict[str, Any]]:
    entries = listed.get(name) if isinstance(listed, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
