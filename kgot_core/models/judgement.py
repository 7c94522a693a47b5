"""Decides what follows from a failed request: try again, do it another way, or end with a clear sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kgot_core.models.faults import Facts, retry_after

LONGEST_WAIT = 120.0
"""Seconds; a server that asks for a longer pause is not waited for."""

Outcome: TypeAlias = Literal["retry", "overflow", "final"]

_TRANSIENT = frozenset({408, 409, 425, 429})
_QUOTA_CODES = ("insufficient_quota", "billing", "quota_exceeded", "access_terminated")
_QUOTA_TEXT = re.compile(
    r"(monthly|daily|weekly) (usage )?limit|credit balance|insufficient (credits?|balance|funds|quota)|hard limit",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"context[ _]length|context[ _]window|maximum context|context[ _]size|prompt is too long|input is too long"
    r"|too many (input |prompt )?tokens|input tokens exceed|request too large|reduce the length",
    re.IGNORECASE,
)
_PAGE = re.compile(r"<!doctype|<html", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Whom a request goes to, for messages.

    Attributes:
        model: The model, ``provider:name``.
        provider: The provider; empty for an object passed in code.
        address: The server's address without secrets; empty where unknown.
        timeout: Seconds that one attempt may take.
    """

    model: str
    provider: str = ""
    address: str = ""
    timeout: float = 0.0

    @property
    def server(self) -> str:
        """The server in words."""
        return f"the server {self.address}" if self.address else f"the server of {self.model}"


@dataclass(frozen=True)
class Fault:
    """What follows from a failed request.

    Attributes:
        outcome: ``retry``, ``overflow`` or ``final``.
        cause: What went wrong, in one line; may still hold secrets.
        hint: The next step for the user.
        wait: Seconds that the server asks to wait, if it does.
        silent: The model replied, but with nothing.
    """

    outcome: Outcome
    cause: str
    hint: str = ""
    wait: float | None = None
    silent: bool = False


def judge(facts: Facts, place: Place, now: float) -> Fault:
    """Judges a failed request.

    Args:
        facts: What the exception tells.
        place: Whom the request went to.
        now: Seconds since the epoch, for dates in headers.
    """
    if _is_overflow(facts):
        return Fault("overflow", f"the request does not fit into the context of {place.model}: {facts.text}")
    wait = retry_after(facts.headers, now)
    if _is_quota(facts, wait):
        return Fault(
            "final", f"the quota of {place.model} is used up: {facts.text}", "check the plan and billing of the account"
        )
    if wait is not None and wait > LONGEST_WAIT and _may_pass(facts):
        span = f"{wait:.0f} s" if wait < 7200 else f"{wait / 3600:.1f} hours"
        return Fault(
            "final",
            f"{place.server} asks to wait {span} before the next request (a quota or rate limit): {facts.text}",
            "try again later, or use another model",
        )
    if facts.is_timeout:
        limit = f" within {place.timeout:g} s" if place.timeout else ""
        return Fault(
            "retry",
            f"timeout: no answer from {place.server}{limit}",
            "a slow model needs a larger models.<role>.timeout",
        )
    if not facts.status and facts.is_connection:
        return Fault("retry", f"{place.server} cannot be reached: {facts.text}", _where_it_runs(place))
    if _may_pass(facts):
        return Fault("retry", f"{place.server} answered {facts.status}: {facts.text}", wait=wait)
    if facts.is_unreadable:
        return _unreadable(facts, place)
    if facts.status:
        return _refused(facts, place)
    return Fault("final", f"{place.model} failed: {facts.names[0]}: {facts.text}")


def _may_pass(facts: Facts) -> bool:
    # A client that reports no status for an error in the midst of an answer (ollama) means the server's failure.
    return facts.status in _TRANSIENT or facts.status >= 500 or (not facts.status and "ResponseError" in facts.names)


def _is_overflow(facts: Facts) -> bool:
    if any("ContextOverflow" in name for name in facts.names) or "context_length_exceeded" in facts.code:
        return True
    return facts.status == 413 or (facts.status in (0, 400, 422, 429, 500) and bool(_OVERFLOW.search(facts.text)))


def _is_quota(facts: Facts, wait: float | None) -> bool:
    if facts.status == 402 or any(code in facts.code for code in _QUOTA_CODES):
        return True
    # Some servers call a limit for each minute a quota too, and say when it is over.
    return facts.status in (403, 429) and wait is None and bool(_QUOTA_TEXT.search(facts.text))


def _unreadable(facts: Facts, place: Place) -> Fault:
    if _PAGE.search(facts.text):
        return Fault(
            "final",
            f"{place.server} answers with a web page, not as a model server",
            "check base_url; it often ends in /v1",
        )
    return Fault("retry", f"{place.server} sent an answer that cannot be read: {facts.text}")


def _refused(facts: Facts, place: Place) -> Fault:
    said = f": {facts.text}" if facts.text else ""
    if facts.status == 401:
        return Fault("final", f"{place.server} refused the key (401){said}", _where_the_key_is(place))
    if facts.status == 403:
        return Fault("final", f"{place.server} forbids the request (403){said}", _where_the_key_is(place))
    if facts.status == 404:
        return _not_found(facts, place, said)
    return Fault("final", f"{place.server} refused the request ({facts.status}){said}")


def _not_found(facts: Facts, place: Place, said: str) -> Fault:
    if "model" not in f"{facts.code} {facts.text}".lower():
        return Fault("final", f"{place.server} has no such address (404){said}", "check base_url; it often ends in /v1")
    name = place.model.partition(":")[2] or place.model
    hint = f"ollama pull {name}" if place.provider == "ollama" else "check the model's name"
    return Fault("final", f"the model {place.model} was not found (404){said}", hint)


def _where_the_key_is(place: Place) -> str:
    variable = "the variable OPENAI_API_KEY or " if place.provider == "openai" else ""
    return f"check {variable}the setting models.<role>.api_key"


def _where_it_runs(place: Place) -> str:
    if place.provider == "ollama":
        return "start it with: ollama serve; another address goes into OLLAMA_HOST or models.<role>.base_url"
    return "check that it runs, and the setting models.<role>.base_url" if place.address else ""
