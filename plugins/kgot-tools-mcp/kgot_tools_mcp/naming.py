"""Names of tools that every model takes."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

LONGEST = 64
_HASH = 8


def names_of(tools: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """Gives tools names of letters, digits, ``_`` and ``-``, each only once, and the same each time.

    Args:
        tools: Server and tool, as the settings and the server call them.
    """
    tools = list(dict.fromkeys(tools))
    plain = {tool: re.sub(r"[^A-Za-z0-9_-]+", "_", "_".join(tool)).strip("_") or "tool" for tool in tools}
    often = Counter(name.lower() for name in plain.values())
    return {
        tool: name if len(name) <= LONGEST and often[name.lower()] == 1 else _marked(name, tool)
        for tool, name in plain.items()
    }


def _marked(name: str, tool: tuple[str, str]) -> str:
    digest = hashlib.sha256("\0".join(tool).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{name[: LONGEST - _HASH - 1].rstrip('_-')}_{digest}"
