"""A job on one file in a child process, and what is said when it does not come to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgot_core.errors import KgotError
from kgot_tools_media.locating import Located
from kgot_tools_media.process import Limits, Told, run_child


class FileUnreadable(KgotError):
    """A file cannot be read; the message says why, and the hint is the way out."""


async def done_on(
    located: Located, job: Mapping[str, Any], limits: Limits, tool: str, wanted: str
) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Does a job on a file.

    Args:
        located: The file.
        job: What to do, without the file's path.
        limits: What it may use.
        tool: The tool whose settings these limits are.
        wanted: Name of the messages that are worth having even if the job was ended early.

    Returns:
        The messages, and why it was ended early; empty where it was not.

    Raises:
        FileUnreadable: The file cannot be read, or the job was ended before it gave anything that is wanted.
    """
    told = await run_child({**job, "path": str(located.path)}, limits)
    if told.problem:
        raise FileUnreadable(f"{located.address} {told.problem}", hint=told.hint)
    if not told.ended:
        return told.messages, ""
    reason, way_out = _ended(told, limits, f"tools.{tool}")
    if not any(wanted in message for message in told.messages):
        raise FileUnreadable(f"{located.address} {reason}", hint=way_out)
    return told.messages, f"it {reason} ({way_out})"


def _ended(told: Told, limits: Limits, settings: str) -> tuple[str, str]:
    match told.ended:
        case "time":
            return f"took longer than {limits.seconds:g} seconds", f"{settings}.seconds allows more"
        case "memory":
            return f"needs more than {limits.memory_mb} MiB of memory", f"{settings}.memory_mb allows more"
        case _:
            return f"is damaged and cannot be read: {told.cause}", "ask for the file again, or use another one"
