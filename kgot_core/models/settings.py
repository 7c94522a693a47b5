"""Reads the settings of a model, ``models.<role>.*``, from wherever they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kgot_core.contracts.model import ModelSpec
from kgot_core.errors import UsageError
from kgot_core.settings.schema import ModelSettings

__all__ = ["ModelSettings", "read_settings", "reveal"]

_NUMBERS: Mapping[str, type] = {
    "timeout": float,
    "temperature": float,
    "max_tokens": int,
    "context_tokens": int,
    "num_ctx": int,
    "input_price": float,
    "output_price": float,
    "cached_price": float,
    "requests_per_minute": float,
    "tokens_per_minute": float,
}
_MAY_BE_ZERO = frozenset({"temperature", "input_price", "output_price", "cached_price"})


def read_settings(source: object, *, strict: bool = True) -> ModelSettings:
    """Reads a model's settings.

    Args:
        source: A :class:`ModelSettings`, a :class:`~kgot_core.contracts.model.ModelSpec` or a mapping; anything else
            counts as no settings.
        strict: Refuse unknown keys; otherwise they are left out, as they may be a plugin's own.

    Raises:
        UsageError: A key is unknown, or its value has the wrong type or range.
    """
    if isinstance(source, ModelSettings):
        return source
    if isinstance(source, ModelSpec):
        source = source.settings
    if not isinstance(source, Mapping):
        return ModelSettings()
    known = {entry.name for entry in fields(ModelSettings)} - {"model"}
    values: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for key, value in source.items():
        if key == "options":
            options.update(value or {})
        elif key.startswith("options."):
            options[key.removeprefix("options.")] = value
        elif key in known:
            if value is not None:
                values[key] = _value(key, value)
        elif strict:
            import difflib

            near = difflib.get_close_matches(key, known, n=1)
            raise UsageError(
                f"models.<role>.{key} is not a setting",
                hint=f"did you mean {near[0]}?" if near else "arguments of the client itself go into options." + key,
            )
    return ModelSettings(**values, options=options)


def reveal(secret: object) -> str:
    """Gives a secret's text, whether it is a plain string or wrapped in an object that hides it."""
    shown = secret.get_secret_value() if hasattr(secret, "get_secret_value") else secret
    return str(shown or "").strip()


def _value(key: str, value: Any) -> Any:
    if key == "api_key":
        return reveal(value)
    kind = _NUMBERS.get(key)
    if kind is None:
        return str(value).strip()
    try:
        number = kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"models.<role>.{key} takes a number, not {value!r}") from None
    if number < 0 or (number == 0 and key not in _MAY_BE_ZERO):
        raise UsageError(f"models.<role>.{key} takes a positive number, not {value!r}")
    return number
