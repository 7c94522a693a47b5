"""One script in a fresh monty interpreter: prelude, before, script, after, and its end by a limit or from outside."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

from pydantic_monty import Monty, MontyError, MontyRuntimeError, MontySession, MontySyntaxError

from kgot_core.contracts.sandbox import CodeJob, CodeResult, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.jail import wire
from kgot_core.sandboxes.last_expression import keep_value
from kgot_core.sandboxes.monty.errors import Failure, explain, over
from kgot_core.sandboxes.monty.files import WORK, ScriptFiles
from kgot_core.sandboxes.text import Printed

_GRACE = 0.5
_MIB = 1024 * 1024
_MAX_CALLS = 50_000
_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
_SETUP = """\
import json as _kgot_json
_kgot_str, _kgot_len = str, len
def exit(code=0):
    raise SystemExit(_kgot_str(code))
def quit(code=0):
    raise SystemExit(_kgot_str(code))
def input(prompt=""):
    raise OSError("EOFError: nobody is there to answer input()")
"""
_TEXT = """\
_kgot_text = None if _kgot_value is None else _kgot_str(_kgot_value)
_kgot_text if _kgot_text is None or _kgot_len(_kgot_text) <= {limit} else _kgot_text[:{limit}] + '… [cut]'
"""
_JSON = """\
_kgot_text = _kgot_json.dumps((
{after}
), allow_nan=False)
_kgot_text if _kgot_len(_kgot_text) <= {limit} else ''
"""


class MontyJob:
    """One job on its way.

    Args:
        job: The job.
        limits: Its limits.
    """

    def __init__(self, job: CodeJob, limits: SandboxLimits) -> None:
        self._job, self._limits = job, limits
        self._printed = Printed(limits.output_chars)
        self._files = ScriptFiles(job.files, limits.file_mb * _MIB)
        self._lock = threading.Lock()
        self._process = 0
        self._stopped: Failure | None = None
        self._count = 0
        self._script: set[str] = set()

    def run(self, pool: Monty, prelude: str) -> CodeResult:
        """Runs it.

        Raises:
            SandboxError: The interpreter failed, or the prelude did in it.
        """
        began = time.monotonic()
        watchdog = threading.Timer(self._limits.seconds + _GRACE, self.stop, (over("time", self._limits),))
        watchdog.daemon = True
        value, failure = None, Failure()
        try:
            with self._checkout(pool) as interpreter:
                self._process = interpreter.worker_pid or 0
                watchdog.start()
                try:
                    value, failure = self._stages(interpreter, prelude)
                finally:
                    watchdog.cancel()
                    with self._lock:
                        self._process = 0
        except (MontyError, TimeoutError) as error:
            if self._stopped is None:
                raise SandboxError(f"monty failed: {error}") from error
        failure = self._stopped or failure
        names, note = self._collect(failure)
        return CodeResult(
            output=self._printed.text() + note,
            value=None if failure.error else value,
            error=failure.error,
            line=failure.line,
            limit=failure.limit,
            exit_code=failure.exit_code,
            files=names,
            seconds=time.monotonic() - began,
        )

    def stop(self, failure: Failure) -> None:
        """Ends the interpreter's process; called from other threads too."""
        with self._lock:
            if self._process and self._stopped is None:
                self._stopped = failure
                os.kill(self._process, _KILL)

    def _checkout(self, pool: Monty) -> MontySession:
        return pool.checkout(
            limits={
                "max_feed_duration_secs": self._limits.seconds,
                "max_memory": self._limits.memory_mb * _MIB,
                "max_suspensions": _MAX_CALLS,
            },
            # Waiting would not count as running, and there is nothing to wait for.
            os_policy={"sleep": "zero"},
        )

    def _stages(self, interpreter: MontySession, prelude: str) -> tuple[Any, Failure]:
        try:
            self._feed(interpreter, f"{_SETUP}\nNone")
            self._feed(interpreter, f"{prelude}\nNone")
        except (MontyRuntimeError, MontySyntaxError) as error:
            raise SandboxError(f"the prelude does not run in monty: {str(error)[:500]}") from error
        kept = False
        try:
            self._feed(interpreter, f"{self._job.before}\nNone", inputs=dict(self._job.inputs))
            kept = self._run_script(interpreter)
        except (MontyRuntimeError, MontySyntaxError) as error:
            failure = self._explain(error)
            if failure.error:
                return None, failure
        try:
            return self._value(interpreter, kept=kept), Failure()
        except (MontyRuntimeError, MontySyntaxError) as error:
            return None, self._explain(error)
        except ValueError as error:
            return None, Failure(str(error))

    def _run_script(self, interpreter: MontySession) -> bool:
        """Runs the script; tells whether the value of its last expression was kept."""
        changed = None if self._job.after else keep_value(self._job.code, "_kgot_value")
        if changed is not None:
            try:
                self._feed(interpreter, changed, script=True)
                return True
            except MontySyntaxError:
                # Nothing has run yet: the last statement was no expression, or the script is wrong anyway.
                pass
        self._feed(interpreter, f"{self._job.code}\n\nNone", script=True)
        return False

    def _value(self, interpreter: MontySession, *, kept: bool) -> Any:
        """Gives the result.

        Raises:
            ValueError: It cannot be taken.
        """
        if not self._job.after:
            return self._feed(interpreter, _TEXT.format(limit=self._limits.output_chars)) if kept else None
        text = self._feed(interpreter, _JSON.format(after=self._job.after, limit=wire.MAX_RESULT))
        if not isinstance(text, str):
            raise ValueError("the script damaged its own result")
        if not text:
            raise ValueError(f"the result is larger than {wire.MAX_RESULT // _MIB} MiB; return less")
        return wire.read_result(text.encode("utf-8", "replace"))

    def _feed(self, interpreter: MontySession, code: str, *, script: bool = False, **more: Any) -> Any:
        if script:
            self._script.add(f"<python-input-{self._count}>")
        self._count += 1
        return interpreter.feed_run(code, print_callback=self._print, os=self._files, cwd=WORK, **more)

    def _print(self, stream: str, text: str) -> None:
        self._printed.add(text.encode("utf-8", "replace"))
        if self._printed.count > wire.MAX_FLOOD:
            self.stop(over("output", self._limits))

    def _explain(self, error: MontyRuntimeError | MontySyntaxError) -> Failure:
        return explain(error, self._limits, self._script, self._job.code, files_full=self._files.full)

    def _collect(self, failure: Failure) -> tuple[tuple[str, ...], str]:
        if self._job.collect is None or failure.limit == "files":
            return (), ""
        try:
            collector = self._files.collect(self._job.collect)
        except OSError as error:
            raise SandboxError(f"files from the sandbox cannot be written: {error.strerror}") from error
        refused = ", ".join(collector.refused)[:500]
        note = f"\n[not kept, because of their names: {refused}]" if refused else ""
        return tuple(sorted(collector.names)), note
