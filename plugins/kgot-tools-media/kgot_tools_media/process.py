"""The host's side of the child process that reads files: starts it, takes what it writes, ends it at its limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kgot_tools_media

_PASSED_ON = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Limits:
    """What one child process may use.

    Attributes:
        seconds: Wall time.
        memory_mb: Memory, in MiB.
        write_mb: Size of a file that it may write, in MiB; 0 where it may write none.
    """

    seconds: float
    memory_mb: int
    write_mb: int = 0


@dataclass
class Told:
    """What a child process wrote.

    Attributes:
        messages: All messages but the last, in order.
        ended: Empty where it came to its end; else ``time``, ``memory`` or ``fault``.
        cause: Its own words about a fault.
        problem: Why the file cannot be read, empty where it can.
        hint: The way out of that.
    """

    messages: list[Mapping[str, Any]] = field(default_factory=list)
    ended: str = "fault"
    cause: str = ""
    problem: str = ""
    hint: str = ""


async def run_child(job: Mapping[str, Any], limits: Limits) -> Told:
    """Does a job in a child process; what it had written counts even where it is ended at a limit.

    Args:
        job: ``do`` names the job (see :mod:`kgot_tools_media.child.main`), the rest is for it.
        limits: What it may use.
    """
    told = Told()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "kgot_tools_media.child.main"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(),
    )
    try:
        async with asyncio.timeout(limits.seconds):
            await _send(process, {**job, "memory_mb": limits.memory_mb, "write_mb": limits.write_mb})
            async for message in _messages(process):
                _take(told, message)
            await process.wait()
    except TimeoutError:
        told.ended = "time"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # Also where this call is cancelled: no process is left behind.
        await asyncio.shield(process.wait())
        if process.stdin is not None:
            process.stdin.close()
    if process.returncode and told.ended == "fault" and not told.cause:
        told.cause = "the process that read it was ended by the system"
    return told


def _take(told: Told, message: Mapping[str, Any]) -> None:
    if "ended" in message:
        told.ended, told.cause = message["ended"], message.get("cause", "")
    elif "problem" in message:
        told.ended, told.problem, told.hint = "", message["problem"], message["hint"]
    else:
        told.messages.append(message)


async def _send(process: asyncio.subprocess.Process, job: Mapping[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(job).encode())
    with contextlib.suppress(ConnectionError):
        await process.stdin.drain()
    process.stdin.close()


async def _messages(process: asyncio.subprocess.Process) -> AsyncIterator[Mapping[str, Any]]:
    assert process.stdout is not None
    rest = b""
    while chunk := await process.stdout.read(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield json.loads(line)


def environment() -> dict[str, str]:
    """Gives the child what it needs to find its modules, and none of the secrets that the environment may hold."""
    package = str(Path(kgot_tools_media.__file__).resolve().parents[1])
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([package, *filter(None, sys.path)]))
    return environment | {
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Numeric libraries would start a thread for each core, each with memory of its own.
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "HOME": os.devnull,
    }
