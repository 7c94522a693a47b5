"""A pool of four slots in a real Docker engine, with the image of the sandbox."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
from pathlib import Path
from typing import Any

import pytest

from kgot_core.pool.container import POOL_LABEL
from kgot_core.sandboxes.docker.engine import connect

pytestmark = pytest.mark.xdist_group("docker")


@pytest.fixture
def docked(pooling: Any, docker_settings: Any) -> Any:
    """A pool whose servers are containers, and whose runs have the sandbox ``docker``."""
    values = {
        "sandbox": "docker",
        "pool.servers": "container",
        "backends.tiny.image": docker_settings.image,
        "sandboxes.docker.image": docker_settings.image,
        "sandboxes.docker.host": docker_settings.host,
    }
    # What is set later stands above.
    pooling.base += [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    return pooling


@pytest.fixture
def client(docker_settings: Any) -> Any:
    with contextlib.closing(connect(docker_settings)) as client:
        yield client


def containers(client: Any, folder: str) -> dict[str, Any]:
    pool = json.loads((Path(folder) / "pool.json").read_text())["id"]
    found = client.containers.list(all=True, filters={"label": f"{POOL_LABEL}={pool}"})
    return {container.name: container for container in found}


def test_four_slots_in_containers_serve_eight_tasks_and_leave_nothing(docked: Any, client: Any) -> None:
    told = docked.start(4)
    assert (told["servers"], told["sandbox"]) == ("container", "docker")
    assert len({slot["address"] for slot in told["slots"]}) == 4
    found = containers(client, told["folder"])
    assert len(found) == 4
    for container in found.values():
        ports = container.attrs["HostConfig"]["PortBindings"]["7000/tcp"]
        assert [port["HostIp"] for port in ports] == ["127.0.0.1"], "nobody else reaches it"
    # Whichever slots are in use then, one of the servers goes.
    names = [slot["server"].removeprefix("container ") for slot in told["slots"]]
    code = f"import docker\nfor name in {names[:2]}:\n    docker.DockerClient({client.api.base_url!r}).api.kill(name)\n"
    Path("before_decide.py").write_text(code.replace("http+docker://localhost", docked_address(docked)))
    done = docked.batch(8, "--pool", "default", "--set", "pool.patience=60")
    assert done.exit_code == 0, done.stderr
    assert {row["task"]: row["reason"] for row in docked.results().values() if row["status"] != "answered"} == {}
    assert set(docked.notes("at_once")) == {1}
    password = (Path(told["folder"]) / "password").read_text()
    assert not any(password in path.read_text() for path in Path("out").rglob("*") if path.is_file())
    assert docked.pool("stop").exit_code == 0
    label = {"label": POOL_LABEL}
    assert [one.name for one in client.containers.list(all=True, filters=label) if one.name in found] == []
    assert "tiny server starts" in (Path(told["folder"]) / "logs/slot-3.log").read_text()


def docked_address(docked: Any) -> str:
    return next(text.partition("=")[2] for text in docked.base if text.startswith("sandboxes.docker.host="))


def test_containers_of_a_killed_keeper_are_swept_and_no_others(docked: Any, client: Any, docker_settings: Any) -> None:
    told = docked.start(1)
    left = containers(client, told["folder"])
    labels = {POOL_LABEL: "ffffffffffff", "kgot.pool.user": str(os.getuid())}
    stranger = client.containers.create(docker_settings.image, ["true"], labels=labels)
    try:
        process = int(json.loads((Path(told["folder"]) / "keeper.json").read_text())["process"])
        handle = os.pidfd_open(process)
        os.kill(process, signal.SIGKILL)
        select.select([handle], [], [], 10)
        os.close(handle)
        assert all(client.containers.get(name).status == "running" for name in left)
        done = docked.pool("start", "--slots", "1", "--backend", "tiny")
        assert done.exit_code == 0, done.stderr
        assert "swept a dead pool" in done.stderr
        names = {container.name for container in client.containers.list(all=True)}
        assert not names & left.keys() and stranger.name in names
        assert len(containers(client, told["folder"])) == 1
    finally:
        stranger.remove(force=True)


def test_an_image_that_cannot_be_had_is_named(docked: Any) -> None:
    done = docked.pool("start", "--slots", "1", "--backend", "tiny", "--set", "backends.tiny.image=no-such-image-kgot")
    assert done.exit_code == 1, done.stderr
    assert "the image no-such-image-kgot cannot be fetched" in done.stderr
