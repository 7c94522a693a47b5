"""Which servers there are: from the settings and from a file as other programs have it, checked one by one."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from kgot_core.errors import KgotError, UsageError
from kgot_tools_mcp.secrets import Scrubber, is_secret_name
from kgot_tools_mcp.settings import LONGEST_CALL, LONGEST_START, McpSettings, ServerSettings

_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_HTTP_KINDS = ("http", "streamable-http", "streamable_http", "streamableHttp")
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class Server:
    """A server that can be started or spoken to: nothing in it is a reference any more.

    Attributes:
        name: Its name in the settings.
        settings: What is set of it.
        scrubber: Takes its secrets out of a text.
    """

    name: str
    settings: ServerSettings
    scrubber: Scrubber = field(default_factory=Scrubber)

    @property
    def key(self) -> str:
        """The table of its settings, for messages."""
        return f"tools.mcp.servers.{self.name}"


@dataclass(frozen=True)
class Unusable:
    """A server, or a file of servers, that cannot be used.

    Attributes:
        name: Its name; empty for the file.
        error: Why.
    """

    name: str
    error: KgotError


def find_servers(settings: McpSettings, env: Mapping[str, str] | None = None) -> Iterator[Server | Unusable]:
    """Gives each server that is not disabled, in the order of the names; the settings go before the file.

    Args:
        settings: The settings.
        env: The environment, from which ``${NAME}`` is read; that of this process where ``None``.
    """
    given: dict[str, ServerSettings | KgotError] = {}
    try:
        given |= _of_file(Path(settings.file)) if settings.file else {}
    except KgotError as error:
        yield Unusable("", error)
    given |= settings.servers
    for name in sorted(given):
        found = given[name]
        try:
            if isinstance(found, KgotError):
                raise found
            if not found.disabled:
                yield _server(name, found, os.environ if env is None else env)
        except KgotError as error:
            yield Unusable(name, error)


def _server(name: str, settings: ServerSettings, env: Mapping[str, str]) -> Server:
    secrets: set[str] = set()

    def full(text: str, what: str, secret: bool = False) -> str:
        def value(found: re.Match[str]) -> str:
            given = env.get(found[1], found[2])
            if given is None:
                message = f"its {what} names the variable {found[1]}, which is not set"
                raise UsageError(message, hint=f"set {found[1]}, or write ${{{found[1]}:-default}}")
            if secret or is_secret_name(found[1]):
                secrets.add(given)
            return given

        text = _REFERENCE.sub(value, text)
        if secret:
            secrets.add(text)
        return text

    found = ServerSettings(
        **{
            **vars(settings),
            "command": full(settings.command, "command"),
            "args": tuple(full(text, "args") for text in settings.args),
            "env": {key: full(text, f"env.{key}", True) for key, text in settings.env.items()},
            "folder": full(settings.folder, "folder"),
            "url": full(settings.url, "url"),
            "headers": {key: full(text, f"headers.{key}", True) for key, text in settings.headers.items()},
        }
    )
    server = Server(name, found, Scrubber(secrets))
    _check(server)
    return server


def _check(server: Server) -> None:
    settings, key = server.settings, server.key
    if bool(settings.command) == bool(settings.url):
        both = "both a command and a url" if settings.command else "neither a command nor a url"
        raise UsageError(f"it has {both}", hint=f"set {key}.command for a program, or {key}.url for an address")
    if settings.url:
        _check_address(settings, key)
    for name, most in (("seconds", LONGEST_CALL), ("start_seconds", LONGEST_START)):
        if not 0 < getattr(settings, name) <= most:
            raise UsageError(f"{key}.{name} must be above 0, and {most:g} at most")
    if settings.message_mb < 1:
        raise UsageError(f"{key}.message_mb must be 1 at least")
    for header, value in settings.headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header) or not value.isprintable():
            raise UsageError(
                f"its header {header!r} cannot be sent", hint="names and values are printable, on one line"
            )


def _check_address(settings: ServerSettings, key: str) -> None:
    try:
        parts = urlsplit(settings.url)
        host, scheme, _ = parts.hostname or "", parts.scheme, parts.port
    except ValueError:
        host = scheme = ""
    if scheme not in ("http", "https") or not host:
        raise UsageError(f"{key}.url is no HTTP address", hint="one is https://example.org/mcp")
    if scheme == "http" and not is_loopback(host) and not settings.plain_http:
        raise UsageError(
            f"{key}.url has no TLS, so what is sent to {host} could be read on the way",
            hint=f"use https, or set {key}.plain_http = true",
        )


def is_loopback(host: str) -> bool:
    """Tells whether a host's name or address is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def _of_file(path: Path) -> Mapping[str, ServerSettings | KgotError]:
    """Reads a file of servers; an entry that is none of ours to use is an error of its own.

    Raises:
        UsageError: The file itself cannot be used.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise UsageError(f"the file {path} (tools.mcp.file) is too large to be one of servers")
        data: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"the file {path} (tools.mcp.file) cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the file {path} (tools.mcp.file) is not JSON: {error}") from None
    table = (data.get("mcpServers") or data.get("servers")) if isinstance(data, dict) else None
    if not isinstance(table, dict):
        raise UsageError(f"the file {path} (tools.mcp.file) names no servers", hint='it is like {"mcpServers": {...}}')
    return {name: _entry(entry, path.parent) for name, entry in table.items()}


def _entry(entry: Any, base: Path) -> ServerSettings | KgotError:
    if not isinstance(entry, dict):
        return UsageError("its entry in tools.mcp.file is no table")
    kind = entry.get("type") or entry.get("transport") or ""
    if kind not in ("", "stdio", *_HTTP_KINDS):
        return UsageError(f"it speaks {kind}, which is not supported", hint="stdio and streamable HTTP are")
    own = {"folder": entry.get("cwd"), "url": entry.get("serverUrl") or entry.get("httpUrl")}
    # What other programs keep beside is theirs.
    taken = {**{name: value for name, value in own.items() if value}, **_known(entry)}
    if isinstance(taken.get("folder"), str) and not taken["folder"].startswith("$"):
        taken["folder"] = str(base / taken["folder"])
    try:
        return TypeAdapter(ServerSettings).validate_python(taken)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])
        return UsageError(f"{place} in its entry of tools.mcp.file is of another type than it should be")


def _known(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ServerSettings.__dataclass_fields__ if entry.get(name) is not None}
