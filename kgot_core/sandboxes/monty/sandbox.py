"""The sandbox ``monty``: a subset of Python in an interpreter of its own, from PyPI, on every platform.

It knows no host: no files but those in memory, no sockets, no processes, no environment. Its worker is another process
all the same, so that a crash or a limit there is none here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgot_core.contracts.sandbox import Prelude, PythonKind, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.providers import Problem
from kgot_core.sandboxes.providers import MontySettings

if TYPE_CHECKING:
    from pydantic_monty import Monty

MODULES = (
    *("asyncio", "base64", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal", "functools"),
    *("hashlib", "itertools", "json", "math", "os", "pathlib", "random", "re", "sys", "time", "tomllib", "typing"),
    "unicodedata",
)
SUBSET = (
    "Here runs a subset of Python: functions, classes without inheritance or method decorators, comprehensions,"
    " f-strings, try, with and match; no del, no yield, no import * and no input. Modules:"
    f" {', '.join(MODULES)}, none of them complete, and no others"
)


class MontySandbox(Sandbox):
    """Starts one interpreter process a session; each script gets it fresh."""

    name = "monty"
    python: PythonKind = "subset"
    about = f"{SUBSET}. There is no network; files can be read and written in the working folder only."

    def __init__(self, settings: MontySettings) -> None:
        self._settings = settings

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Starts a session and tries the prelude once.

        Raises:
            SandboxError: The interpreter cannot be started, or the prelude needs what it lacks.
        """
        from kgot_core.sandboxes.monty.session import MontySession

        return MontySession(start_pool(), self._settings, prelude, limits)


def start_pool() -> Monty:
    """Starts the interpreter's process.

    Raises:
        SandboxError: It is not installed, or does not start here.
    """
    try:
        from pydantic_monty import Monty

        return Monty(min_processes=1, max_processes=1, checkout_timeout=10.0).__enter__()
    except Exception as error:
        # A missing or unusable binary shows itself as any of several kinds of error.
        raise SandboxError(
            f"monty cannot be started: {error}", hint="pip install pydantic-monty brings it for most platforms"
        ) from error


def check(settings: MontySettings) -> Problem | None:
    """Runs one expression."""
    try:
        pool = start_pool()
    except SandboxError as error:
        return Problem(error.message, error.hint)
    try:
        with pool.checkout() as session:
            correct = session.feed_run("6 * 7") == 42
    except Exception as error:
        return Problem(f"monty does not work here: {error}")
    finally:
        pool.__exit__(None, None, None)
    return None if correct else Problem("monty does not work here: it calculates wrongly")
