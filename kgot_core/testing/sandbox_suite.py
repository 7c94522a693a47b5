"""The conformance suite of sandboxes. A third party subclasses :class:`SandboxSuite` and names its provider.

Example:
    class TestMySandbox(SandboxSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.providers import SandboxProvider
from kgot_core.testing.sandbox_reach import ReachTests
from kgot_core.testing.suite import check_provider, ready

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=4, processes=16)
SHORT = SandboxLimits(seconds=0.5, memory_mb=256, output_chars=2_000, file_mb=4, processes=16)


def ready_sandbox(provider: SandboxProvider, settings: Any) -> Sandbox:
    """Opens a sandbox for a test; where it cannot run, the test is skipped, or fails where ``CI`` is set."""
    return provider.open(ready(provider, settings))


class SandboxSuite(ReachTests):
    """What every sandbox does. A test that needs full Python passes over a ``subset`` one.

    Attributes:
        provider: The provider under test; or give the fixture ``sandbox``.
        settings: Its settings; the defaults where ``None``.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings", "sandbox"})
    provider: ClassVar[SandboxProvider | None] = None
    settings: ClassVar[Any] = None

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        """Gives the sandbox under test."""
        if self.provider is None:
            raise NotImplementedError("set provider, or give a fixture 'sandbox' that returns the sandbox under test")
        return ready_sandbox(self.provider, self.settings)

    @pytest.fixture
    def session(self, sandbox: Sandbox) -> Iterator[SandboxSession]:
        """Gives an open session with a small prelude."""
        session = sandbox.open(Prelude("base = 2\ndef double(x):\n    return base * x\nstate = 'new'"), LIMITS)
        yield session
        session.close()

    def test_provider_is_complete(self) -> None:
        if self.provider is not None:
            check_provider(self.provider)

    def test_describes_itself(self, sandbox: Sandbox) -> None:
        assert sandbox.name and len(sandbox.about) > 20, "name and about must be set; the model is shown about"
        assert sandbox.python in ("full", "subset"), "python must be 'full' or 'subset'"

    def test_value_of_the_last_expression_is_text(self, session: SandboxSession) -> None:
        assert session.run(CodeJob("5 * 6")).value == "30", "the last expression's value must be the result, as text"
        for code in ("x = 5 * 6", "None", "for x in [1]:\n    x", ""):
            result = session.run(CodeJob(code))
            assert (result.value, result.error) == (None, ""), f"no value was expected from {code!r}"

    def test_inputs_before_script_and_after_share_one_namespace(self, session: SandboxSession) -> None:
        result = session.run(
            CodeJob(
                "total = double(n) + extra['k'][0]", {"n": 4, "extra": {"k": [1.5, None, True]}}, "n += 1", "[total, n]"
            )
        )
        assert result == CodeResult(value=[11.5, 5], seconds=result.seconds), "order: inputs, before, script, after"

    def test_functions_recurse_and_see_top_level_names(self, session: SandboxSession) -> None:
        code = (
            "import re\nbase = 2\ndef f(n): return 1 if n == 0 else base * f(n - 1)\n"
            'def g(s): return re.split("[,.]", s)\nprint(f(5), g("100,36"), [base * k for k in range(3)])'
        )
        output = session.run(CodeJob(code)).output
        assert output == "32 ['100', '36'] [0, 2, 4]\n", "script and names must live in one namespace, not in two"

    def test_endless_recursion_is_an_error(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("def h(n): return h(n + 1)\nh(0)"))
        assert "RecursionError" in result.error, "endless recursion must be told as RecursionError"
        assert len(result.error) <= 2_000, "an error has at most 2,000 characters: only the last lines of the trace"
        self.works(session)

    def test_error_tells_kind_text_and_line_but_no_path(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("x = 1\ny = 2\nraise ValueError('no such city')"))
        assert "ValueError: no such city" in result.error, "error must hold the kind and the text"
        assert (result.line, result.limit, result.value) == (3, "", None), "line is the script's line, counted from 1"
        for code in ("from re import nothing_of_that_name", "x = (1,\n", "open('missing.txt')", "x = )"):
            error = session.run(CodeJob(code)).error
            assert error, f"{code!r} must fail"
            for path in {sys.prefix, sys.base_prefix, os.environ.get("HOME", "/"), str(Path.cwd())} - {"/", "/usr"}:
                assert path not in error, f"an error must not name a path of the host: {path}"

    def test_names_of_a_job_are_gone_after_it(self, session: SandboxSession) -> None:
        session.run(CodeJob("import json\nleft_over = 1\nbase = 100"))
        assert "NameError" in session.run(CodeJob("left_over")).error, "a job must not see names of an earlier one"
        assert session.run(CodeJob("double(1)")).value == "2", "a job must not change the prelude's names for others"

    def test_exit_is_not_the_host_s(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("print('partial')\nexit(3)"))
        assert (result.exit_code, result.output) == (3, "partial\n"), (
            "exit(3) must give exit_code 3 and keep the output"
        )
        assert "no data" in session.run(CodeJob("raise SystemExit('no data')")).error, "its text belongs into error"
        ended = session.run(CodeJob("x = 7\nexit()\nx = 8", after="x"))
        assert (ended.value, ended.error) == (7, ""), "exit() without a code ends a script well"

    def test_input_does_not_wait(self, session: SandboxSession) -> None:
        assert "EOFError" in session.run(CodeJob("n = input('how many? ')")).error, "input() must fail at once"

    def test_endless_loop_ends_at_the_time_limit(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("while True:\n    pass", limits=SHORT))
        assert result.limit == "time" and result.error, "an endless loop must end with limit 'time' and an error"
        self.works(session)

    def test_memory_is_limited_and_output_cut(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("rows = []\nwhile True:\n    rows.append('x' * 10**6)\n    print(len(rows))"))
        assert result.limit == "memory" and "memory" in result.error.lower(), "memory must be limited, by its name"
        printed = session.run(CodeJob("for i in range(5000):\n    print('line', i)"))
        assert not printed.error, "much output is cut, but no error"
        assert len(printed.output) <= LIMITS.output_chars + 200, "output must be cut to output_chars"
        assert printed.output.startswith("line 0\n") and "left out" in printed.output, "a cut needs a note"
        self.works(session)

    def test_output_flood_ends(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("while True:\n    print('x' * 10000)"))
        assert result.limit in ("output", "time"), "an output flood must be ended"
        assert len(result.output) <= LIMITS.output_chars + 200, "output must be cut to output_chars"
        self.works(session)

    @pytest.mark.parametrize("code", ["x = {1, 2}", "x = float('nan')", "x = []\nfor i in range(5000):\n    x = [x]"])
    def test_what_is_not_json_is_refused(self, session: SandboxSession, code: str) -> None:
        result = session.run(CodeJob(code, after="x"))
        assert result.error and result.value is None, "a result that is no JSON value, or too deep, must be an error"
        self.works(session)

    def test_huge_result_is_refused(self, session: SandboxSession) -> None:
        result = session.run(CodeJob("x = 'a' * (17 * 1024 * 1024)", after="x"))
        assert "16 MiB" in result.error and result.value is None, "a result is at most 16 MiB, and the error says so"
        self.works(session)

    def test_cancel_from_another_thread(self, session: SandboxSession) -> None:
        ended = threading.Event()

        def keep_cancelling() -> None:
            while not ended.wait(0.02):
                session.cancel()

        thread = threading.Thread(target=keep_cancelling)
        thread.start()
        result = session.run(CodeJob("while True:\n    pass"))
        ended.set()
        thread.join()
        assert result.limit == "time" and result.seconds < LIMITS.seconds / 2, "cancel() must end the job, as 'time'"
        self.works(session)

    def test_close_twice_then_no_more_jobs(self, sandbox: Sandbox) -> None:
        session = sandbox.open(Prelude(), LIMITS)
        session.close()
        session.close()
        with pytest.raises(SandboxError):
            session.run(CodeJob("1"))

    def test_broken_prelude_is_a_sandbox_error(self, sandbox: Sandbox) -> None:
        for prelude in (Prelude("1 / 0"), Prelude("", ("no_such_module_here",))):
            with pytest.raises(SandboxError):
                sandbox.open(prelude, LIMITS)

    def test_commit_keeps_state_or_is_refused(self, sandbox: Sandbox, session: SandboxSession) -> None:
        job = CodeJob("x = state + '+'", after="x", commit="state = value")
        if sandbox.python == "subset":
            with pytest.raises(ValueError):
                session.run(job)
            return
        assert [session.run(job).value, session.run(job).value] == ["new+", "new++"], "commit must change later jobs"
        session.run(CodeJob("1 / 0", commit="state = 'wrong'"))
        session.run(CodeJob("x = 1", after="missing", commit="state = 'wrong'"))
        failed = session.run(CodeJob("1", commit="state = undefined_name"))
        assert "undefined_name" in failed.error, "a commit that raises must make the job a failure"
        assert session.run(CodeJob("state")).value == "new++", "only a job that ended well may commit"
