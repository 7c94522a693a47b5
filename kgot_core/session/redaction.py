"""Takes the secrets of a session out of everything that is recorded, shown or sent on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from kgot_core.models.introspection import secrets_of
from kgot_core.pool.sources import pool_secret
from kgot_core.settings import Settings

HIDDEN = "[secret]"
SHORTEST = 6
# Servers without keys are given such words as keys; taking them out of every text would spoil it.
LONGEST_WORD = 9
LONG = 16
QUERY_MARKS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "SIGNATURE", "SIG")
MARKS = ("_API_KEY", "_ACCESS_KEY", "_KEY_ID", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD")


def redactor(settings: Settings, models: Iterable[object]) -> Callable[[str], str]:
    """Gives a function that takes secrets out of a text.

    Args:
        settings: Their secrets, and the keys of usual provider variables in their environment: those are no settings
            of ours, but must not be written either.
        models: Chat models that were passed in code.
    """
    found = settings.secrets() | _usual(settings.env) | _in_addresses(settings) | {pool_secret(settings)}
    for model in models:
        found |= secrets_of(model)
    hidden = sorted((text for text in found if _worth_hiding(text)), key=lambda text: (-len(text), text))

    def redact(text: str) -> str:
        for secret in hidden:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return text

    return redact


def _usual(env: Mapping[str, str]) -> set[str]:
    return {
        value
        for name, value in env.items()
        if name.upper().endswith(MARKS) or (name.upper().endswith("_KEY") and len(value) >= LONG)
    }


def _in_addresses(settings: Settings) -> set[str]:
    """Finds passwords and keys within addresses, which are no secrets as a whole."""
    found: set[str] = set()
    for entry in settings.entries.values():
        text = entry.value if isinstance(entry.value, str) else ""
        if "://" not in text:
            continue
        try:
            address = urlsplit(text)
            found.add(unquote(address.password or ""))
        except ValueError:  # whoever uses it says what is wrong with it
            continue
        found.add(address.password or "")
        found |= {value for name, value in parse_qsl(address.query) if name.upper().endswith(QUERY_MARKS)}
    return found


def _worth_hiding(text: str) -> bool:
    return len(text) >= SHORTEST and not (text.isalpha() and len(text) <= LONGEST_WORD)
