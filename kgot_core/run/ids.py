"""Fresh ids for elements that the core itself makes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from kgot_core.graph.fold import TaskGraph


def new_ids(graph: TaskGraph) -> Callable[[str], str]:
    """Gives a function that makes ids which the graph does not use, from their first letter (``n`` or ``e``).

    They begin with ``f``, so that they never meet those of a backend.
    """
    numbers = itertools.count(len(graph) + 1)

    def fresh(kind: str) -> str:
        while graph.get(name := f"f{kind}{next(numbers)}") is not None:
            pass
        return name

    return fresh
