from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.monty.sandbox import MODULES, check
from kgot_core.sandboxes.providers import MONTY, MontySettings
from kgot_core.testing.sandbox_suite import SandboxSuite, ready_sandbox


@pytest.fixture
def sandbox() -> Sandbox:
    return ready_sandbox(MONTY, MontySettings())


class TestMonty(SandboxSuite):
    provider = MONTY


@pytest.fixture
def session(sandbox):
    session = sandbox.open(Prelude(), SandboxLimits(seconds=5, file_mb=1))
    yield session
    session.close()


def test_is_ready_where_it_is_installed():
    assert check(MontySettings()) is None


def test_modules_that_the_model_is_told_of_are_there(session):
    result = session.run(CodeJob("".join(f"import {name}\n" for name in MODULES)))
    assert result.error == ""


@pytest.mark.parametrize(
    "code",
    [
        "import statistics",
        "from collections import ChainMap",
        "class A(dict):\n    pass",
        "def f():\n    yield 1",
        "x = 1\ndel x",
        "globals()",
        "().__class__",
    ],
)
def test_what_is_lacking_is_answered_with_what_may_be_used(session, code):
    result = session.run(CodeJob(code))
    assert "subset of Python" in result.error
    assert "itertools" in result.error
    assert len(result.error) <= 2_000


def test_ordinary_mistakes_get_no_such_lecture(session):
    assert "subset" not in session.run(CodeJob("undefined_thing")).error
    assert "subset" not in session.run(CodeJob("{}['a']")).error


def test_sys_exit_names_the_way_out(session):
    assert "exit(code)" in session.run(CodeJob("import sys\nsys.exit(3)")).error


def test_trace_shows_the_script_s_own_lines(session):
    result = session.run(CodeJob("def f(x):\n    return x['k']\n\nf({})"))
    assert result.line == 2
    assert result.error.splitlines()[:2] == ["line 4: f({})", "line 2, in f: return x['k']"]


def test_value_is_cut_like_output(sandbox):
    session = sandbox.open(Prelude(), SandboxLimits(output_chars=50))
    try:
        assert session.run(CodeJob("'a' * 1000")).value == "a" * 50 + "… [cut]"
    finally:
        session.close()


def test_waiting_takes_no_time(session):
    result = session.run(CodeJob("import time\ntime.sleep(1000)\n7"))
    assert result.value == "7"


def test_file_system_holds_nothing_but_the_job_s_files(session, tmp_path):
    (tmp_path / "a.txt").write_text("x")
    result = session.run(CodeJob("import os\n(os.listdir('/'), os.getcwd())", files={"a.txt": tmp_path / "a.txt"}))
    assert result.value == "(['work'], '/work')"


def test_many_files_are_refused(session):
    result = session.run(CodeJob("for i in range(5000):\n    open(f'f{i}', 'w')"))
    assert result.limit == "files"


def test_module_that_is_not_there_is_named(sandbox):
    with pytest.raises(SandboxError, match="networkx"):
        sandbox.open(Prelude("", ("networkx",)), SandboxLimits())


def test_result_that_is_forged_is_refused(session):
    result = session.run(
        CodeJob("class J:\n    def dumps(self, x, allow_nan=0):\n        return [1]\n_kgot_json = J()", after="1")
    )
    assert "damaged" in result.error
    assert session.run(CodeJob("1", after="1")).value == 1


def test_module_does_not_load_the_interpreter_s_binding():
    source = importlib.util.find_spec("kgot_core.sandboxes.monty.sandbox")
    assert source is not None and source.origin
    code = "import sys; import kgot_core.sandboxes.monty.sandbox; print('pydantic_monty' in sys.modules)"
    import subprocess
    import sys

    root = Path(source.origin).parents[2]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert run.stdout == "False\n"
