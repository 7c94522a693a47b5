"""Reads the one JSON value that a reply holds, however a model dressed it."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from kgot_core.errors import Unreadable
from kgot_core.graph.values import JsonValue
from kgot_core.reading.candidates import Candidate, Damage, Findings, find_values
from kgot_core.reading.strings import whole_text


def read_json(text: str, *, keys: Collection[str] = ()) -> JsonValue:
    """Reads the JSON value of a reply.

    Strict JSON comes first, then fenced blocks, then values in prose. Python literals, comments, wrong quotes and
    escapes, trailing commas, line breaks in strings and a document that was escaped twice are understood; text
    within strings is never changed beyond its escapes, nothing is evaluated, and a reply that was cut off is never
    completed.

    Args:
        text: The reply.
        keys: Names of which the wanted object has at least one; other objects are passed over.

    Raises:
        Unreadable: There is no value, it is damaged or cut off, or the reply holds different ones.
    """
    if not text.strip():
        raise Unreadable("the reply is empty; expected JSON")
    exact = _strict(text)
    if exact is not None:
        value = exact[0]
        if not keys or _has_key(value, keys):
            return value
        raise _no_key(keys)
    return _choose(text, find_values(text), keys)


def read_all_json(text: str) -> tuple[JsonValue, ...]:
    """Reads every JSON object and list of a reply, in order; forms with placeholders are left out.

    Raises:
        Unreadable: One of them is damaged or cut off.
    """
    exact = _strict(text)
    if exact is not None:
        return exact
    found = find_values(text)
    if found.damages:
        raise _damaged(text, found.damages[0])
    return tuple(candidate.value for candidate in found.candidates if not candidate.placeholder)


def _strict(text: str) -> tuple[JsonValue] | None:
    """Reads a reply that is one JSON document, or one written into a JSON string; ``None`` where it is neither."""
    value = _load(text)
    if value is _FAILED:
        return None
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        inner = _load(value)
        if inner is not _FAILED:
            value = inner
    return (value,)  # type: ignore[return-value]


_FAILED = object()


def _load(text: str) -> object:
    try:
        value = json.loads(
            text.strip().lstrip("\ufeff"), object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite
        )
    except (ValueError, RecursionError):
        return _FAILED
    return _clean(value) if "\\ud" in text or "\\uD" in text else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and repr(found[name]) != repr(value):
            raise ValueError("a name stands twice with different values")
        found[name] = value
    return found


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("the number is too large")
    return number


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {whole_text(name): _clean(item) for name, item in value.items()}
    return value


def _choose(text: str, found: Findings, keys: Collection[str]) -> JsonValue:
    readable = [item for item in found.candidates if not keys or _has_key(item.value, keys)]
    good = next((rank for rank in _ranked(readable) if rank), [])
    fenced = [item for item in good if item.fenced]
    for damage in found.damages:
        if damage.ended or damage.fenced or not fenced:
            raise _damaged(text, damage)
    if fenced:
        good = fenced + [item for item in good if not item.fenced and _same_names(item, fenced[0])]
    if not good:
        if found.loose_end:
            raise Unreadable("the reply was cut off (truncated) before its JSON was complete", truncated=True)
        raise _no_key(keys) if found.candidates else Unreadable("there is no JSON in the reply")
    distinct = {json.dumps(item.value, sort_keys=True): item for item in good}
    if len(distinct) > 1:
        raise Unreadable(f"the reply holds {len(distinct)} different JSON values; expected exactly one")
    if good[0].omission:
        raise Unreadable("the JSON leaves something out with dots; expected a complete value")
    return good[0].value


def _ranked(found: list[Candidate]) -> list[list[Candidate]]:
    """Groups values by how likely one is meant: those that show a form, then footnote marks, come last."""
    real = [item for item in found if _is_substance(item.value)]
    forms = [item for item in real if item.placeholder]
    return [
        [item for item in real if not item.placeholder],
        [item for item in forms if item.fenced],
        forms,
        [item for item in found if not _is_substance(item.value)],
    ]


def _damaged(text: str, damage: Damage) -> Unreadable:
    if damage.ended:
        return Unreadable(
            f"the reply was cut off (truncated) before its JSON was complete: {damage.message}", truncated=True
        )
    line = text.count("\n", 0, damage.position) + 1
    column = damage.position - text.rfind("\n", 0, damage.position)
    near = text[max(0, damage.position - 20) : damage.position + 20].replace("\n", " ").strip()
    return Unreadable(f"the JSON is not valid at line {line}, column {column}: {damage.message}, near {near!r}")


def _no_key(keys: Collection[str]) -> Unreadable:
    return Unreadable(f"expected a JSON object with {' or '.join(repr(key) for key in keys)}")


def _has_key(value: JsonValue, keys: Collection[str]) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, dict) and _has_key(item, keys) for item in value)
    return isinstance(value, dict) and any(key in value for key in keys)


def _is_substance(value: JsonValue) -> bool:
    """Tells whether a value is more than a footnote mark such as ``[1]`` or empty brackets in prose."""
    if isinstance(value, list):
        return any(not isinstance(item, int | float) or isinstance(item, bool) for item in value)
    return bool(value) or not isinstance(value, dict)


def _same_names(item: Candidate, other: Candidate) -> bool:
    left, right = item.value, other.value
    return isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys()
