"""What a worker answers to a job, read with care: behind it there may be a script that took the worker over."""

from __future__ import annotations

import time
from typing import Any, cast, get_args

from kgot_core.contracts.sandbox import CodeJob, CodeResult, LimitHit, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.files import Collector
from kgot_core.sandboxes.jail import wire
from kgot_core.sandboxes.text import cut_output
from kgot_core.sandboxes.worker.line import JailLine, JailLost

_MIB = 1024 * 1024
_PART = 1 << 18


def read_answer(jail: JailLine, answer: dict[str, Any], job: CodeJob, limits: SandboxLimits) -> CodeResult:
    """Reads what follows an answer's header.

    Raises:
        JailLost: It is not as announced.
        SandboxError: The files cannot be written.
    """
    try:
        files = [(str(file["name"]), int(file["size"])) for file in answer["files"]]
        value_size, head_size, tail_size = (int(size) for size in answer["sizes"][:3])
        error, note = str(answer["error"])[:2000], str(answer["note"])[:200]
        line, exit_code, printed = int(answer["line"]), int(answer["exit_code"]), int(answer["printed"])
        limit, seconds = str(answer["limit"]), float(answer["seconds"])
    except (KeyError, TypeError, ValueError):
        raise JailLost("the worker's answer cannot be read") from None
    kept = 8 * limits.output_chars + _PART
    if value_size > wire.MAX_RESULT or head_size + tail_size > kept or len(files) > wire.MAX_FILES:
        raise JailLost("the worker's answer is too long")
    deadline = time.monotonic() + 10.0
    value, head, tail = (jail.read(size, deadline) for size in (value_size, head_size, tail_size))
    names, refused = _collect(jail, files, job, limits)
    output = cut_output(head, tail, printed, limits.output_chars)
    notes = [note] if note else []
    notes += [f"not kept, because of their names: {', '.join(refused)[:500]}"] if refused else []
    if notes:
        output += "".join(f"\n[{text}]" for text in notes)
    result: Any = None
    if not error:
        try:
            result = wire.read_result(value)
        except ValueError as problem:
            error = str(problem)
    return CodeResult(
        output=output,
        value=result,
        error=error,
        line=line,
        limit=cast(LimitHit, limit if limit in get_args(LimitHit) else ""),
        exit_code=exit_code,
        files=names,
        seconds=seconds,
    )


def _collect(
    jail: JailLine, files: list[tuple[str, int]], job: CodeJob, limits: SandboxLimits
) -> tuple[tuple[str, ...], list[str]]:
    if not files or job.collect is None:
        return (), []
    if sum(size for _, size in files) > limits.file_mb * _MIB or min(size for _, size in files) < 0:
        raise JailLost("the worker's files are too large")
    collector = Collector(job.collect)
    failed = ""
    for name, size in files:
        parts = jail.parts(size, time.monotonic() + 30.0)
        try:
            if not failed:
                collector.add(name, parts)
        except OSError as error:
            failed = f"the file {name} from the sandbox cannot be written: {error.strerror}"
        # What is not written has to be read all the same, or the next answer would begin in the middle of it.
        for _ in parts:
            pass
    if failed:
        raise SandboxError(failed)
    return tuple(sorted(collector.names)), collector.refused
