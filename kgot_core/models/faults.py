"""Reads an exception of any client into facts, without importing the client."""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from kgot_core.contracts.task import Usage
from kgot_core.errors import ModelError

_GENERIC = re.compile(r"^Error code: \d+( - )?")


class NothingSaid(ModelError):
    """The model kept replying with nothing.

    Attributes:
        usage: What the empty replies cost.
    """

    def __init__(self, message: str, *, hint: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, hint=hint)
        self.usage = usage or Usage()


@dataclass(frozen=True)
class Facts:
    """What an exception tells.

    Attributes:
        names: Name of its class, then those of the classes above it.
        status: HTTP status, 0 where unknown.
        code: The server's own code or type of the error, lower case.
        param: The parameter that the server complains about.
        text: The server's message, or the exception's, or that of the cause below it.
        headers: Response headers, names in lower case.
    """

    names: tuple[str, ...]
    status: int = 0
    code: str = ""
    param: str = ""
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_timeout(self) -> bool:
        """The request ran out of time."""
        return any("Timeout" in name for name in self.names)

    @property
    def is_connection(self) -> bool:
        """The server could not be reached, or the connection broke."""
        if "LocalProtocolError" in self.names or "UnsupportedProtocol" in self.names:
            return False
        wanted = ("ConnectionError", "ConnectError", "NetworkError", "TransportError", "RemoteProtocolError", "OSError")
        return any(name.endswith(wanted) for name in self.names)

    @property
    def is_unreadable(self) -> bool:
        """An answer came, but it could not be decoded or lacked what it must have."""
        wanted = {
            "JSONDecodeError",
            "UnicodeDecodeError",
            "ValidationError",
            "APIResponseValidationError",
            "OutputParserException",
            "ValueError",
            "KeyError",
            "IndexError",
            "TypeError",
            "AttributeError",
        }
        return not self.status and not wanted.isdisjoint(self.names)


def read_error(error: BaseException) -> Facts:
    """Reads an exception of openai, ollama, httpx or any other client by its attributes."""
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    told: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    if not told and error.args and isinstance(error.args[0], Mapping):  # an error inside an answer of status 200
        told = error.args[0]
    if isinstance(told.get("error"), Mapping):
        told = told["error"]
    status = _status(getattr(error, "status_code", None)) or _status(told.get("code"))
    if not status and not isinstance(error, ValueError | TypeError | KeyError):
        status = _status(getattr(response, "status_code", None))
    codes = (told.get("code"), told.get("type"), getattr(error, "code", None), getattr(error, "type", None))
    text = _told(told, body) or getattr(error, "error", None) or _plain(error, response)
    names = tuple(base.__name__ for base in type(error).__mro__)
    facts = Facts(
        names=names,
        status=status,
        code=" ".join(str(code).lower() for code in codes if isinstance(code, str) and code),
        param=str(told.get("param") or getattr(error, "param", None) or ""),
        text=str(text),
        headers={
            str(name).lower(): str(value) for name, value in dict(getattr(response, "headers", None) or {}).items()
        },
    )
    if facts.is_connection and not facts.is_timeout:
        return Facts(names, status, facts.code, facts.param, _deepest(error), facts.headers)
    return facts


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Reads how long a server asks to wait, in seconds from ``now`` (seconds since the epoch).

    ``Retry-After`` comes in seconds or as an HTTP date; some servers send ``retry-after-ms``. What cannot be read
    counts as not sent.
    """
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value) * factor
        except ValueError:
            seconds = _until(value, now)
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _told(told: Mapping[str, Any], body: object) -> str:
    if isinstance(body, str) and body:
        return body
    said = told.get("message") or told.get("detail") or told.get("error") or ""
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)


def _plain(error: BaseException, response: object) -> str:
    shown = _GENERIC.sub("", str(error))
    if shown or response is None:
        return shown or type(error).__name__
    try:
        return str(response.text)[:500]  # type: ignore[attr-defined]
    except Exception:  # a body that was never read
        return type(error).__name__


def _until(date: str, now: float) -> float:
    try:
        moment = email.utils.parsedate_to_datetime(date)
    except (TypeError, ValueError, IndexError):
        return -1.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


def _status(value: object) -> int:
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return 0
    return number if 100 <= number <= 599 else 0


def _deepest(error: BaseException) -> str:
    """Gives the message at the bottom of the causes: ``Connection refused`` and not ``Connection error``."""
    shown = str(error)
    seen = {id(error)}
    below = error.__cause__ or error.__context__
    while below is not None and id(below) not in seen:
        seen.add(id(below))
        text = getattr(below, "strerror", None) or str(below)
        if text:
            shown = str(text)
        below = below.__cause__ or below.__context__
    return shown or type(error).__name__
