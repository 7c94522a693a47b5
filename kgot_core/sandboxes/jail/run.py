"""Runs one job from the worker's side: starts its process, watches it, ends whatever is left, judges its outcome."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .ahead import Ahead
from .script import describe
from .watch import Watch

_MAX_OUTCOME = 64 * 1024
_PART = 1 << 16


@dataclass
class Outcome:
    """How a job ended; ``value`` is its result as JSON, untrusted until :func:`finish` has read it."""

    limits: dict[str, Any]
    error: str = ""
    line: int = 0
    limit: str = ""
    exit_code: int = 0
    value: bytes = b"null"
    head: bytes = b""
    tail: bytearray = field(default_factory=bytearray)
    printed: int = 0
    seconds: float = 0.0

    def fail(self, error: str, limit: str = "") -> None:
        """Makes it a failure."""
        self.error, self.limit, self.line, self.value = error, limit, 0, b"null"

    def header(self, found: list[dict[str, Any]], note: str) -> dict[str, Any]:
        """Gives the answer's header."""
        sizes = [len(self.value), len(self.head), len(self.tail), *(file["size"] for file in found)]
        keys = ("error", "line", "limit", "exit_code", "printed", "seconds")
        return {**{key: getattr(self, key) for key in keys}, "files": found, "note": note, "sizes": sizes}

    def print(self, part: bytes) -> None:
        """Takes in printed bytes: the beginning and the end are kept."""
        self.printed += len(part)
        room = 4 * self.limits["output_chars"] - len(self.head)
        self.head += part[:room]
        self.tail += part[room:]
        del self.tail[: -2 * self.limits["output_chars"] or None]


def run_job(
    job: dict[str, Any],
    ahead: Ahead,
    inlet: int,
    again: Callable[[], Ahead],
    commit: Callable[[Outcome], None],
    places: list[str],
) -> Outcome:
    """Runs a job in a child process until it ends or passes a limit; afterwards the jail holds only the worker.

    Args:
        job: The job.
        ahead: The process that waits for it.
        inlet: What the host writes into.
        again: Makes another such process, where that one has ended meanwhile.
        commit: Takes the outcome over into the worker, once it is certain.
        places: The writable file systems.

    Raises:
        EOFError: The host has gone.
    """
    outcome = Outcome(job["limits"])
    began = time.monotonic()
    watch = Watch(job["limits"], places)
    if not ahead.give(job):
        ahead.close()
        ahead = again()
        ahead.give(job)
    try:
        told = bytearray()
        status = _follow(outcome, watch, ahead.pid, ahead.output, ahead.result, inlet, told)
        whole = _complete(told) and not outcome.limit
        if whole:
            # Nothing that a process says or does any more counts, so the kernel may take them down meanwhile.
            _kill_all()
            _judge(outcome, bytes(told), 0)
            commit(outcome)
        status = end_all(ahead.pid, status)
        _drain(outcome, ahead.output, ahead.result, told)
    finally:
        ahead.close()
    if not whole:
        if not outcome.limit:
            _judge(outcome, bytes(told), status)
        commit(outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def _follow(
    outcome: Outcome, watch: Watch, child: int, output: int, result: int, inlet: int, told: bytearray
) -> int | None:
    poll = select.poll()
    for pipe in (output, result, inlet):
        poll.register(pipe, select.POLLIN)
    while True:
        for pipe, _ in poll.poll(watch.wait() * 1000 + 1):
            if pipe == inlet:
                _cancelled(inlet)
                outcome.fail("the script was cancelled", "time")
                return None
            part = os.read(pipe, _PART)
            if not part:
                poll.unregister(pipe)
            elif pipe == output:
                outcome.print(part)
            else:
                told += part
        if _complete(told) or len(told) > wire.MAX_RESULT + _MAX_OUTCOME:
            return None
        limit = "output" if outcome.printed > wire.MAX_FLOOD else watch.check()
        if limit:
            outcome.fail(wire.limit_text(limit, outcome.limits), limit)
            return None
        # Orphans of the script are children of the first process: they are reaped on the way.
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    return ended[1]


def _cancelled(inlet: int) -> None:
    """Reads the host's short word during a job: the only one there is means cancel."""
    data = os.read(inlet, wire.LENGTH.size)
    if not data:
        raise EOFError
    os.read(inlet, wire.LENGTH.unpack(data)[0])


def end_all(child: int, status: int | None) -> int:
    """Ends every process of the jail but this one, which is its first; gives the child's status."""
    assert os.getpid() == 1
    while True:
        _kill_all()
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return status or 0
        if pid == child:
            status = ended


def _kill_all() -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _drain(outcome: Outcome, output: int, result: int, told: bytearray) -> None:
    while part := os.read(output, _PART):
        outcome.print(part)
    while len(told) <= wire.MAX_RESULT + _MAX_OUTCOME and (part := os.read(result, _PART)):
        told += part


def _complete(told: bytearray) -> bool:
    return len(told) >= 8 and len(told) >= 8 + sum(_lengths(told))


def _lengths(told: bytes | bytearray) -> tuple[int, int]:
    size = wire.LENGTH.size
    return wire.LENGTH.unpack_from(told)[0], wire.LENGTH.unpack_from(told, size)[0]


def _judge(outcome: Outcome, told: bytes, status: int) -> None:
    """Takes a child's outcome over, which the script may have written itself."""
    if not told:
        outcome.exit_code = os.waitstatus_to_exitcode(status)
        if outcome.exit_code < 0:
            name = signal.Signals(-outcome.exit_code).name
            outcome.exit_code += 256
            outcome.fail(f"the script's process was ended by the signal {name}")
        else:
            outcome.fail(f"the script's process ended before the script did, with exit code {outcome.exit_code}")
        return
    try:
        first, second = _lengths(told)
        if second > wire.MAX_RESULT:
            raise OverflowError
        said = json.loads(told[8 : 8 + first])
        error, line, limit, code = said["error"], said.get("line", 0), said.get("limit", ""), said.get("exit_code", 0)
        if len(told) != 8 + first + second or first > _MAX_OUTCOME:
            raise ValueError
        outcome.error, outcome.line, outcome.limit, outcome.exit_code = (
            str(error)[:2000],
            int(line),
            str(limit),
            int(code),
        )
        outcome.value = told[8 + first :]
    except OverflowError:
        outcome.fail(f"the result is larger than {wire.MAX_RESULT // 1024 // 1024} MiB; return less")
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, struct.error):
        outcome.fail("the script damaged its own result")


def finish(job: dict[str, Any], outcome: Outcome, names: dict[str, Any]) -> None:
    """Runs a job's commit with its checked value."""
    if outcome.error or not job["commit"]:
        return
    try:
        value = wire.read_result(outcome.value)
    except ValueError as error:
        outcome.fail(str(error))
        return
    names["value"] = value
    try:
        exec(compile(job["commit"], "<commit>", "exec"), names)  # noqa: S102
    except Exception as error:
        outcome.fail(f"the result could not be taken over: {describe(error)[0]}"[:2000])
    finally:
        names.pop("value", None)
