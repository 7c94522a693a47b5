"""Compares the events of a repeated run with those of its record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kgot_core.run.record.recorded import standing

FREE = ("seq", "at")


class Difference(NamedTuple):
    """Where two runs part: the step, and the events there as JSON, empty where one has none."""

    step: str
    recorded: str
    repeated: str


def difference(
    recorded: Iterable[Mapping[str, Any]], repeated: Iterable[Mapping[str, Any]], *, whole: bool = True
) -> Difference | None:
    """Finds the first difference, by step; ``None`` where there is none.

    What ran side by side may have been recorded in another order, so the order within a run does not count. Nor does
    what no longer counts in a run that went on after it was broken off.

    Args:
        recorded: Events of the record.
        repeated: Events of the repeated run.
        whole: Both must hold the same; otherwise the record may hold more.
    """
    ours, theirs = Counter(map(_comparable, standing(recorded))), Counter(map(_comparable, repeated))
    only_theirs = sorted((theirs - ours).elements())
    only_ours = sorted((ours - theirs).elements()) if whole else []
    if not only_ours and not only_theirs:
        return None
    step = min(step for step, _ in (*only_ours[:1], *only_theirs[:1]))
    return Difference(step, _at(step, only_ours), _at(step, only_theirs))


def _comparable(record: Mapping[str, Any]) -> tuple[str, str]:
    kept = {name: value for name, value in record.items() if name not in FREE}
    return str(record["step"]), json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _at(step: str, events: Iterable[tuple[str, str]]) -> str:
    return next((text for place, text in events if place == step), "")
