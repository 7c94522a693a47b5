"""What host and jail say to each other: frames of JSON with raw bytes behind them, and the checked result of a job.

A frame is the length of its header (four bytes, network order), the header (a JSON object), and then as many raw
bytes as the header's ``sizes`` add up to.
"""

from __future__ import annotations

import json
import struct
from typing import Any

LENGTH = struct.Struct("!I")
MAX_HEADER = 4 * 1024 * 1024
"""Longest header that the host takes from a jail."""
MAX_RESULT = 16 * 1024 * 1024
"""Longest result of a job, in bytes of JSON."""
MAX_ITEMS = 2_000_000
"""Most values in a result; a small text can hold many."""
MAX_DEPTH = 200
"""Deepest nesting of a result."""
MAX_FILES = 1_000
"""Most files that come back from a job."""
MAX_FLOOD = 64 * 1024 * 1024
"""Printed bytes after which a job is ended instead of being read on."""


def pack(header: dict[str, Any]) -> bytes:
    """Gives a frame's length and header."""
    data = json.dumps(header, separators=(",", ":")).encode("ascii")
    return LENGTH.pack(len(data)) + data


def read_result(data: bytes) -> Any:
    """Reads a job's result, which is untrusted.

    Raises:
        ValueError: It is no JSON value, or too large or too deep; the message says which.
    """
    if len(data) > MAX_RESULT:
        raise ValueError(f"the result is larger than {MAX_RESULT // 1024 // 1024} MiB; return less")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_ITEMS:
        raise ValueError(f"the result holds more than {MAX_ITEMS:,} values; return fewer")
    try:
        value = json.loads(data, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(f"the result is nested more than {MAX_DEPTH} levels deep") from None
    except (ValueError, MemoryError) as error:
        raise ValueError(f"the result is not JSON: {str(error)[:200]}") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for box in level for item in _inside(box) if isinstance(item, list | dict)]
        if not level:
            return value
    raise ValueError(f"the result is nested more than {MAX_DEPTH} levels deep")


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def limit_text(limit: str, limits: dict[str, Any]) -> str:
    """Says in one sentence which limit ended a job."""
    return {
        "time": f"TimeoutError: the script ran longer than its limit of {limits['seconds']:g} s",
        "memory": f"MemoryError: the script used more memory than its limit of {limits['memory_mb']} MiB",
        "files": f"OSError: the script wrote more than its limit of {limits['file_mb']} MiB, or too many files",
        "output": f"the script printed more than the limit of {MAX_FLOOD // 1024 // 1024} MiB",
        "processes": f"the script had more processes and threads than its limit of {limits['processes']}",
    }.get(limit, "")
