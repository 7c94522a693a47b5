"""Fresh ids for elements that the core itself makes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from kgot_core.contracts.run import GraphHandle


def new_ids(graph: GraphHandle) -> Callable[[str], str]:
    """Gives a function that makes ids which no element of the run has or had, from their first letter (``n``, ``e``).

    They begin with ``f``, so that they never meet those of a backend.
    """
    numbers = itertools.count(len(graph.state) + 1)

    def fresh(kind: str) -> str:
        while True:
            name = f"f{kind}{next(numbers)}"
            if graph.state.get(name) is None and graph.origin(name) is None:
                return name

    return fresh
