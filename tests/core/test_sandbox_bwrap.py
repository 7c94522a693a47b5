from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.sandboxes.providers import BWRAP, BwrapSettings
from kgot_core.testing.sandbox_suite import SandboxSuite, ready_sandbox

ROOT = Path(__file__).parents[2]
LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=16)
STATEFUL = Prelude("state = 0")
ADD = CodeJob("state += 1", after="state", commit="state = value")


class TestBwrap(SandboxSuite):
    provider = BWRAP


@pytest.fixture
def sandbox() -> Sandbox:
    return ready_sandbox(BWRAP, BwrapSettings())


@pytest.fixture
def session(sandbox):
    session = sandbox.open(STATEFUL, LIMITS)
    yield session
    session.close()


def test_script_is_nobody_without_any_right(session):
    code = (
        "import os\nlines = [line.split(':\\t') for line in open('/proc/self/status').read().splitlines()]\n"
        "status = dict(pair for pair in lines if len(pair) == 2)\n"
        "names = ['CapEff', 'CapPrm', 'CapInh', 'NoNewPrivs', 'Seccomp']\n"
        "result = [os.getresuid(), os.getresgid(), os.getgroups(), *(status[name] for name in names)]"
    )
    value = session.run(CodeJob(code, after="result")).value
    nothing = "0" * 16
    assert value[:2] == [[65534] * 3, [65534] * 3]
    assert 0 not in value[2]
    assert value[3:] == [nothing, nothing, nothing, "1", "2"]


def test_script_sees_two_processes_and_its_own_host_name(session):
    code = "import os, socket\npids = [p for p in os.listdir('/proc') if p.isdigit()]"
    result = session.run(CodeJob(code, after="[pids == ['1', str(os.getpid())], socket.gethostname()]"))
    assert result.value == [True, "sandbox"]


def test_environment_is_ours_alone(session, monkeypatch):
    monkeypatch.setenv("HARMLESS", "1")
    value = session.run(CodeJob("import os", after="dict(os.environ)")).value
    assert value["HOME"] == "/tmp"
    assert not {"HARMLESS", "PYTHONPATH", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST"} & value.keys()


def test_packages_of_the_environment_are_there_and_warm(sandbox):
    session = sandbox.open(Prelude("import networkx as nx\nG = nx.MultiDiGraph()", ("networkx",)), LIMITS)
    try:
        job = CodeJob("G.add_edge('a', 'b')", after="sorted(G)", commit="G.add_nodes_from(value)")
        assert session.run(job).value == ["a", "b"]
        result = session.run(CodeJob("import sys", after="[len(G), G.number_of_edges(), nx.__file__]"))
        assert result.value[:2] == [2, 0]
        assert str(Path(sys.prefix)) not in result.value[2] or sys.prefix.startswith("/usr")
    finally:
        session.close()


def test_greedy_loop_costs_the_host_nothing(session):
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = "rows = []\nwhile True:\n    rows.append('x' * 10**6)\n    print(len(rows), 'y' * 10**6)"
    result = session.run(CodeJob(code, limits=SandboxLimits(seconds=2, memory_mb=256)))
    assert result.limit in ("time", "memory", "output") and result.error
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    assert session.run(ADD).value == 1


def test_syntax_error_shows_line_and_reason_even_in_a_long_line(session):
    result = session.run(CodeJob("x = 1\ny = (1" + " + 1" * 2000 + "\nz = 2"))
    assert result.line == 2
    assert result.error.startswith("line 2: y = (1 + 1") and result.error.endswith("SyntaxError: '(' was never closed")


def test_exit_code_of_sys_exit_and_of_a_process_that_ends_itself(session):
    result = session.run(CodeJob("import sys; print('partial'); sys.exit(3)"))
    assert (result.exit_code, result.output) == (3, "partial\n")
    ended = session.run(CodeJob("import os\nos._exit(7)"))
    assert (ended.exit_code, "exit code 7" in ended.error) == (7, True)
    assert "no data" in session.run(CodeJob("raise SystemExit('no data')")).output


def test_everything_that_is_printed_is_captured_in_order(session):
    code = (
        "import os, subprocess, sys, threading\nprint('one')\nos.write(1, b'two\\n')\nos.system('echo three')\n"
        "subprocess.run(['echo', 'four'])\nprint('five', file=sys.stderr)\n"
        "threading.Thread(target=lambda: print('six')).start()"
    )
    assert session.run(CodeJob(code)).output.split() == ["one", "two", "three", "four", "five", "six"]


def test_standard_library_works_in_the_jail(session):
    code = (
        "import multiprocessing, sqlite3, tempfile, concurrent.futures as f\nfrom pathlib import Path\n"
        "def square(x): return x * x\n"
        "with f.ProcessPoolExecutor(2) as pool: squares = list(pool.map(square, range(4)))\n"
        "with tempfile.TemporaryDirectory() as d: Path(d, 'x').write_text('y')\n"
        "sqlite3.connect('a.db').execute('create table t(x)')\nlock = multiprocessing.Lock()"
    )
    assert session.run(CodeJob(code, after="squares")).value == [0, 1, 4, 9]


def test_given_module_can_be_imported(session, tmp_path):
    (tmp_path / "helper.py").write_text("answer = 42\n")
    assert (
        session.run(CodeJob("import helper\nhelper.answer", files={"helper.py": tmp_path / "helper.py"})).value == "42"
    )


def test_links_and_special_files_do_not_come_back(session, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("8417")
    code = (
        f"import os\nos.symlink({str(secret)!r}, 'link')\nos.symlink('/usr/bin', 'folder')\nos.mkfifo('pipe')\n"
        "os.symlink('/proc/self/environ', 'environ')\nopen('fine.txt', 'w').write('x')\nopen('.hidden', 'w').close()\n"
        "open('none.txt', 'w').close(); os.chmod('none.txt', 0)\nopen('no\\nname', 'w').close()"
    )
    result = session.run(CodeJob(code, collect=tmp_path / "new"))
    assert result.files == ("fine.txt", "none.txt")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["fine.txt", "none.txt"]
    assert "not kept" in result.output


def test_links_in_the_host_s_folder_are_not_followed(session, tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "new"
    outside.mkdir()
    folder.mkdir()
    (outside / "kept").write_text("before")
    (folder / "file").symlink_to(outside / "kept")
    (folder / "sub").symlink_to(outside)
    code = "import os\nopen('file', 'w').write('after')\nos.mkdir('sub')\nopen('sub/kept', 'w').write('after')"
    assert session.run(CodeJob(code, collect=folder)).files == ("file",)
    assert (outside / "kept").read_text() == "before"
    assert (folder / "file").read_text() == "after"


def test_file_with_holes_does_not_fill_the_host(session, tmp_path):
    code = "for i in range(50):\n    with open(f'f{i}', 'wb') as f: f.truncate(7_000_000)"
    result = session.run(CodeJob(code, collect=tmp_path / "new"))
    assert len(result.files) == 1
    assert "too large" in result.output


def test_large_file_goes_in_whole(session, tmp_path):
    (tmp_path / "big").write_bytes(os.urandom(1 << 20) * 12)
    code = "import hashlib\nhashlib.sha256(open('big', 'rb').read()).hexdigest()"
    import hashlib

    digest = hashlib.sha256((tmp_path / "big").read_bytes()).hexdigest()
    assert session.run(CodeJob(code, files={"big": tmp_path / "big"})).value == digest
    with pytest.raises(ValueError, match="MiB"):
        small = BWRAP.open(BwrapSettings(input_mb=1)).open(Prelude(), LIMITS)
        try:
            small.run(CodeJob("1", files={"big": tmp_path / "big"}))
        finally:
            small.close()
