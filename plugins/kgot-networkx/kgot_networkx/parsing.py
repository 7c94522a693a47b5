"""Reads Python source on threads."""

from __future__ import annotations

import ast
import threading

# CPython before 3.13 counts the depth of a tree for all threads together, so that two that build one at the same time
# end in a SystemError.
_ONE_AT_A_TIME = threading.Lock()
_TRIES = 5


def parse(source: str) -> ast.Module:
    """Parses a module's source.

    Raises:
        SyntaxError: It is not Python.
        ValueError: It holds a null byte.
        RecursionError: It is nested too deeply.
        MemoryError: It is nested too deeply for the parser.
    """
    with _ONE_AT_A_TIME:
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(source)
            except SystemError:  # another package builds a tree on a thread of its own
                continue
        return ast.parse(source)
