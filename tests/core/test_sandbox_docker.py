from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.providers import Problem
from kgot_core.sandboxes.docker.engine import connect
from kgot_core.sandboxes.docker.sandbox import check
from kgot_core.sandboxes.image.build import build_image, save_archive
from kgot_core.sandboxes.providers import DOCKER, DockerSettings
from kgot_core.testing.sandbox_suite import SandboxSuite, ready_sandbox

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=16)
REAL = pytest.mark.xdist_group("docker")


@pytest.fixture(scope="module")
def sandbox(docker_settings) -> Sandbox:
    return ready_sandbox(DOCKER, docker_settings)


@pytest.fixture(scope="module")
def session(sandbox):
    session = sandbox.open(Prelude(), LIMITS)
    yield session
    session.close()


@REAL
class TestDocker(SandboxSuite):
    @pytest.fixture
    def sandbox(self, docker_settings) -> Sandbox:
        return ready_sandbox(DOCKER, docker_settings)


@REAL
def test_script_is_nobody_without_any_right(session):
    code = (
        "import os\nlines = [line.split(':\\t') for line in open('/proc/self/status').read().splitlines()]\n"
        "status = dict(pair for pair in lines if len(pair) == 2)\n"
        "names = ['CapEff', 'CapPrm', 'CapInh', 'CapBnd', 'NoNewPrivs', 'Seccomp']\n"
        "result = [[*os.getresuid(), *os.getresgid()], *(status[name] for name in names)]"
    )
    assert session.run(CodeJob(code, after="result")).value == [[65534] * 6, *["0" * 16] * 4, "1", "2"]


@REAL
def test_container_is_closed_and_bounded(session, docker_settings):
    (container,) = own_containers(docker_settings)
    host = container.attrs["HostConfig"]
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"], host["Privileged"]) == (
        *("none", True, ["ALL"]),
        False,
    )
    assert host["Memory"] == host["MemorySwap"] == (256 + 256 + 8 + 1 + 256) << 20
    assert host["NanoCpus"] == 10**9 and host["PidsLimit"] == 256
    assert host["AutoRemove"] and host["LogConfig"]["Type"] == "none"
    assert not container.attrs["Mounts"]


@REAL
def test_environment_and_name_servers_are_not_the_host_s(session):
    code = "import os\nnames = open('/etc/resolv.conf').read() + open('/etc/hosts').read()"
    value = session.run(CodeJob(code, after="[dict(os.environ), names]")).value
    assert value[0]["HOME"] == "/tmp" and not {"PYTHONPATH", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST"} & value[0].keys()
    assert value[1] == ""


@REAL
def test_packages_of_the_image_are_those_that_the_model_is_told_of(sandbox, session):
    told = [name for name in ("matplotlib", "networkx", "numpy", "pandas", "scipy", "sympy") if name in sandbox.about]
    assert "networkx" in told and "numpy" in told
    result = session.run(CodeJob("".join(f"import {name}\n" for name in told)))
    assert result.error == ""


@REAL
def test_plot_comes_back(sandbox, session, tmp_path):
    if "matplotlib" not in sandbox.about:
        pytest.skip("matplotlib is not installed here: pip install 'kgot-core[science]'")
    code = "import matplotlib.pyplot as plot\nplot.plot([1, 3, 2])\nplot.savefig('plot.png')"
    assert session.run(CodeJob(code, collect=tmp_path)).files == ("plot.png",)
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


@REAL
def test_container_ends_with_its_host(docker_settings):
    code = (
        "from kgot_core.sandboxes.providers import *\nfrom kgot_core.contracts.sandbox import *\n"
        f"s = open_docker(DockerSettings(host={docker_settings.host!r}, image={docker_settings.image!r}))\n"
        "s = s.open(Prelude(), SandboxLimits())\nprint('ready', flush=True)\n"
        "s.run(CodeJob('import signal\\nsignal.signal(15, signal.SIG_IGN)\\nwhile True: pass'))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as host:
        assert host.stdout and host.stdout.readline() == b"ready\n"
        (container,) = own_containers(docker_settings, host.pid)
        host.kill()
    container.wait(condition="removed", timeout=10)
    assert not own_containers(docker_settings, host.pid)


@REAL
def test_image_is_built_from_a_base_image_with_the_recipe(docker_settings):
    client, lines = connect(docker_settings), []
    # No registry is needed: the base is the image that was made from this machine's Python.
    build_image(client, "kgot-sandbox-built", (), docker_settings.image, lines.append)
    try:
        built = ready_sandbox(DOCKER, dataclasses.replace(docker_settings, image="kgot-sandbox-built"))
        session = built.open(Prelude(), LIMITS)
        assert session.run(CodeJob("print('from the recipe')")).output == "from the recipe\n"
        session.close()
        assert any("describe.py" in line for line in lines)
    finally:
        client.images.remove("kgot-sandbox-built", force=True)


@REAL
def test_build_that_fails_says_why(docker_settings):
    lines: list[str] = []
    with pytest.raises(SandboxError, match="cannot be built"):
        build_image(
            connect(docker_settings), "kgot-never", ("no-pip-in-this-base",), docker_settings.image, lines.append
        )
    assert any("No module named pip" in line for line in lines)


@REAL
def test_saved_archive_can_be_loaded(docker_settings, tmp_path):
    import tarfile

    save_archive(connect(docker_settings), docker_settings.image, tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as tar:
        assert "manifest.json" in tar.getnames()


@REAL
def test_image_that_is_not_ours_is_named_with_the_way_to_get_one(docker_settings):
    client = connect(docker_settings)
    client.api.import_image_from_data(b"", repository="kgot-empty")
    try:
        problem = check(dataclasses.replace(docker_settings, image="kgot-empty"))
        assert problem and "kgot-empty" in problem.message
    finally:
        client.images.remove("kgot-empty", force=True)
    missing = check(dataclasses.replace(docker_settings, image="kgot-none"))
    assert missing == Problem("the image kgot-none cannot be used: there is no such image", "kgot sandbox build")


def test_engine_that_does_not_answer_is_named_with_the_next_step():
    problem = check(DockerSettings(host="unix:///no/such/socket"))
    assert problem and "no Docker engine answers" in problem.message and "No such file" in problem.message
    assert "sandboxes.docker.host" in problem.hint


def test_missing_library_is_named_with_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "docker", None)
    assert check(DockerSettings()) == Problem(
        "the Python library docker is not installed", "pip install 'kgot-core[docker]'"
    )


def own_containers(settings, pid: int = 0):
    """Gives the containers of a process, this one by default."""
    label = f"kgot.sandbox={pid or os.getpid()}"
    return connect(settings).containers.list(all=True, filters={"label": label})
