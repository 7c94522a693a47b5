"""Addresses of model servers, and the key for them."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from kgot_core.errors import UsageError
from kgot_core.models.settings import ModelSettings

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})


def openai_address(settings: ModelSettings) -> str:
    """Gives an OpenAI-compatible server's address: from settings, the usual variables, else OpenAI's own.

    Raises:
        UsageError: It is no HTTP address.
    """
    usual = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return _checked(settings.base_url or usual or OPENAI)


def openai_key(settings: ModelSettings) -> str:
    """Gives the key: from settings, else from the usual variable; empty where there is none."""
    return settings.api_key or os.environ.get("OPENAI_API_KEY", "").strip()


def ollama_address(settings: ModelSettings) -> str:
    """Gives Ollama's address: from settings, from ``OLLAMA_HOST`` (where scheme and port may be missing), else local.

    Raises:
        UsageError: It is no HTTP address.
    """
    address = settings.base_url or os.environ.get("OLLAMA_HOST", "").strip() or OLLAMA
    if "://" not in address:
        address = f"http://{address}"
    parts = urlsplit(_checked(address))
    if parts.scheme == "http" and not parts.netloc.rpartition("]")[2].rpartition("@")[2].count(":"):
        parts = parts._replace(netloc=f"{parts.netloc}:11434")
    return urlunsplit(parts)


def bare_address(address: str) -> str:
    """Gives an address without user, password, query and fragment, and without a slash at its end."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", "")).rstrip("/")


def transport_options(address: str, timeout: float) -> dict[str, Any]:
    """Gives arguments for an HTTP client that speaks to one server.

    Reading the certificates takes 25 ms for each client. A loopback server without TLS needs none: its clients trust
    nobody, and pass no proxy.
    """
    parts = urlsplit(address)
    options: dict[str, Any] = {"timeout": timeout}
    if parts.scheme == "http" and parts.hostname in _LOOPBACK:
        import ssl

        options |= {"verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), "trust_env": False}
    return options


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        shown = bare_address(address) or "that is set"
        raise UsageError(f"the model server's address {shown} is not valid", hint="one is http://127.0.0.1:8080/v1")
    return address
