"""Runs one job in a forked process of its own: before, script, after; the outcome goes through a pipe."""

from __future__ import annotations

import ast
import contextlib
import errno
import gc
import json
import linecache
import os
import resource
import sys
import threading
import traceback
from collections import deque
from typing import Any

from . import wire
from .lock import Kernel
from .watch import pages

SCRIPT, BEFORE, AFTER = "<script>", "<before>", "<after>"
WORK = "/tmp/work"
_MIB = 1024 * 1024
_HEADROOM = 64 * _MIB
_MAX_ERROR = 1_900
_MAX_LINES = 6
_AMOUNTS = {
    "memory": "{memory_mb} MiB of memory",
    "files": "{file_mb} MiB of files",
    "processes": "{processes} processes and threads",
}
_FULL_DISK = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)

# Bound here, so that a script which replaces them in their modules does not change how its outcome is told.
_dumps = json.dumps
_exit = os._exit


def run_child(job: dict[str, Any], names: dict[str, Any], result: int, kernel: Kernel) -> None:
    """Runs a job and never returns.

    Args:
        job: The job as the host sent it.
        names: The warm worker's namespace; this process has its own copy.
        result: Where the outcome goes: two lengths, the outcome as JSON, the value as JSON.
        kernel: For making this process ordinary again.
    """
    try:
        own = os.getpid()
        _prepare(job["limits"], kernel)
        outcome, value = _run(job, names)
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        # A script may fork and come back here twice.
        if os.getpid() == own:
            head = _dumps(outcome).encode()
            _send(result, wire.LENGTH.pack(len(head)) + wire.LENGTH.pack(len(value)) + head + value)
    finally:
        _exit(0)


def warm(names: dict[str, Any]) -> None:
    """Runs a script that does nothing: the pages that every script writes to become this process's own beforehand."""
    limits = {"output_chars": 1}
    _run({"code": "0", "inputs": {}, "before": "0", "after": "[0]", "limits": limits}, dict(names))


def settle(output: int, *kept: int) -> None:
    """Makes a process one of its own, with nothing open but what it needs.

    Args:
        output: Where everything that is printed goes.
        kept: Further files that stay open.
    """
    nothing = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    first = 3
    for file in sorted(kept):
        os.closerange(first, file)
        first = file + 1
    os.closerange(first, 4096)
    os.setsid()
    gc.freeze()


def _prepare(limits: dict[str, Any], kernel: Kernel) -> None:
    kernel.set_dumpable(True)
    memory = pages("self", 0) * resource.getpagesize() + limits["memory_mb"] * _MIB
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_mb"] * _MIB,) * 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (limits["process_limit"],) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory + _HEADROOM))
    os.chdir(WORK)
    sys.path.insert(0, WORK)
    sys.argv = ["script.py"]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _run(job: dict[str, Any], names: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    code = job["code"]
    linecache.cache[SCRIPT] = (len(code), None, code.splitlines(keepends=True), SCRIPT)
    names.update(job["inputs"])
    try:
        if job["before"]:
            exec(compile(job["before"], BEFORE, "exec"), names)  # noqa: S102
        value = None
        try:
            value = _script(code, names, keep=not job["after"])
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        if job["after"]:
            value = eval(compile(job["after"], AFTER, "eval"), names)  # noqa: S307
        elif value is not None:
            value = _cut(str(value), job["limits"]["output_chars"])
        return {"error": ""}, _dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except BaseException as error:
        # What was left free on purpose: telling about a lack of memory needs some.
        resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
        return _failure(error, job["limits"]), b"null"


def _script(code: str, names: dict[str, Any], *, keep: bool) -> Any:
    try:
        tree = ast.parse(code, SCRIPT)
    except MemoryError:
        raise SyntaxError("the script is nested too deeply") from None
    last = tree.body[-1] if tree.body else None
    if not keep or not isinstance(last, ast.Expr):
        exec(compile(tree, SCRIPT, "exec"), names)  # noqa: S102
        return None
    tree.body.pop()
    exec(compile(tree, SCRIPT, "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), SCRIPT, "eval"), names)  # noqa: S307


def _failure(error: BaseException, limits: dict[str, Any]) -> dict[str, Any]:
    limit, exit_code = "", 0
    if isinstance(error, MemoryError):
        limit = "memory"
    elif isinstance(error, OSError) and error.errno in _FULL_DISK:
        limit = "files"
    elif isinstance(error, BlockingIOError) or "can't start new thread" in str(error.args[:1]):
        limit = "processes"
    if isinstance(error, SystemExit):
        exit_code = error.code & 0xFF if isinstance(error.code, int) else 1
        if not isinstance(error.code, int):
            with contextlib.suppress(BaseException):
                sys.stderr.write(f"{error.code}\n")
    text, line = describe(error)
    if limit:
        text += f" (the limit is {_AMOUNTS[limit].format(**limits)})"
    return {"error": text, "line": line, "limit": limit, "exit_code": exit_code}


def describe(error: BaseException) -> tuple[str, int]:
    """Gives an error's kind and text behind the last lines of the trace that lie in the script, and that line."""
    try:
        kind = "".join(traceback.format_exception_only(error)).strip()
    except BaseException:
        kind = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename == SCRIPT:
        line = error.lineno or 0
        return f"{_place(line, '<module>')}\n{type(error).__name__}: {_cut(error.msg, 500)}", line
    places: deque[tuple[int, str]] = deque(maxlen=_MAX_LINES)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SCRIPT:
            places.append((trace.tb_lineno, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    lines = [_place(line, name) for line, name in places]
    room = _MAX_ERROR - sum(len(line) + 1 for line in lines)
    return "\n".join([*lines, _cut(kind, room - 50)]), places[-1][0] if places else 0


def _place(line: int, name: str) -> str:
    where = f"line {line}" if name == "<module>" else f"line {line}, in {name}"
    return f"{where}: {linecache.getline(SCRIPT, line).strip()}"[:200]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text) - limit} more characters]"


def _send(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
