"""What went wrong in monty, told as by every sandbox, and what a script may use instead of what monty lacks."""

from __future__ import annotations

import builtins
import re
from collections.abc import Set
from dataclasses import asdict, dataclass

from pydantic_monty import Frame, MontyRuntimeError, MontySyntaxError

from kgot_core.contracts.sandbox import LimitHit, SandboxLimits
from kgot_core.sandboxes.jail import wire
from kgot_core.sandboxes.monty.sandbox import SUBSET

_MAX_ERROR = 1_950
_MAX_LINES = 6
_LACKS = re.compile(
    r"ModuleNotFoundError|ImportError|NotImplementedError: The monty|AttributeError: (module '|.*has no attribute '__)"
    r"|RuntimeError: ('os\.|Internal error in monty)"
)
_NO_EXIT = "AttributeError: module 'sys' has no attribute 'exit'"


@dataclass(frozen=True)
class Failure:
    """How a script failed; an empty ``error`` means that it ended well."""

    error: str = ""
    line: int = 0
    limit: LimitHit = ""
    exit_code: int = 0


def over(limit: LimitHit, limits: SandboxLimits) -> Failure:
    """Says which limit ended a script."""
    return Failure(wire.limit_text(limit, asdict(limits)), limit=limit)


def explain(
    error: MontyRuntimeError | MontySyntaxError,
    limits: SandboxLimits,
    script: Set[str],
    code: str,
    *,
    files_full: bool,
) -> Failure:
    """Tells what an error of the interpreter means.

    Args:
        error: The error.
        limits: The job's limits.
        script: Names under which the interpreter knows the script, to tell its lines from others.
        code: The script; the interpreter knows a changed one.
        files_full: The script wrote more than it may.
    """
    text = error.display("type-msg")
    kind, _, message = text.partition(":")
    if kind == "TimeoutError" and "time limit exceeded" in message:
        return over("time", limits)
    if kind == "MemoryError" and "memory limit" in message:
        return over("memory", limits)
    if kind == "OSError" and files_full:
        return over("files", limits)
    frames = [frame for frame in error.traceback() if frame.filename in script]
    exit_code = 0
    if kind == "SystemExit":
        message = message.strip()
        if message in ("", "0", "None"):
            return Failure()
        exit_code = int(message) & 0xFF if re.fullmatch(r"-?\d{1,9}", message) else 1
    source = code.split("\n")
    lines = [_place(frame, source) for frame in frames[-_MAX_LINES:]]
    hint = _hint(text)
    room = _MAX_ERROR - sum(len(line) + 1 for line in lines) - len(hint)
    text = text if len(text) <= room else f"{text[:room]}…"
    return Failure(
        "\n".join([*lines, text + hint]), min(frames[-1].line, len(source)) if frames else 0, exit_code=exit_code
    )


def _place(frame: Frame, source: list[str]) -> str:
    line = min(frame.line, len(source))
    where = f"line {line}" if frame.function_name in (None, "<module>") else f"line {line}, in {frame.function_name}"
    return f"{where}: {source[line - 1].strip()}"[:160]


def _hint(text: str) -> str:
    if text.startswith(_NO_EXIT):
        return ". Call exit(code) instead"
    name = re.match(r"NameError: name '(\w+)' is not defined", text)
    if _LACKS.match(text) or (name and hasattr(builtins, name[1])):
        return f". {SUBSET}"
    return ""
