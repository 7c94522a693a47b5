"""The sandboxes of slots: made ahead, used by one run each, tried before, replaced when broken, gone at the end."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from docker.errors import NotFound

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.pool.sandboxes import SlotSandboxes
from kgot_core.sandboxes.docker.engine import connect
from kgot_core.sandboxes.providers import BWRAP, DOCKER, BwrapSettings
from kgot_core.testing.sandbox_suite import ready_sandbox

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=16)
DOCKER_HERE = pytest.param("docker", marks=pytest.mark.xdist_group("docker"))
PATIENCE = 60.0
SEEN = CodeJob("import os\nold = os.path.exists('/tmp/mark')\nopen('/tmp/mark', 'w').close()", after="old")


class Counted(Sandbox):
    """A real sandbox, of which is told what it opens."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.name, self.python, self.about = sandbox.name, sandbox.python, sandbox.about
        self.opened: list[SandboxSession] = []
        self.fails = False
        self._sandbox, self._changed = sandbox, threading.Condition()

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        if self.fails:
            raise SandboxError("the engine is away")
        session = self._sandbox.open(prelude, limits)
        with self._changed:
            self.opened.append(session)
            self._changed.notify_all()
        return session

    def wait_for(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.opened) >= count, PATIENCE)


@pytest.fixture(params=["bwrap", DOCKER_HERE])
def counted(request: pytest.FixtureRequest) -> Counted:
    if request.param == "bwrap":
        return Counted(ready_sandbox(BWRAP, BwrapSettings()))
    return Counted(ready_sandbox(DOCKER, request.getfixturevalue("docker_settings")))


@pytest.fixture
def slots(counted: Counted) -> Iterator[SlotSandboxes]:
    made = SlotSandboxes(counted, LIMITS, check_seconds=3600.0)
    yield made
    made.close()


@contextlib.contextmanager
def used(sandbox: Sandbox) -> Iterator[SandboxSession]:
    session = sandbox.open(Prelude(), LIMITS)
    try:
        yield session
    finally:
        session.close()


def test_a_run_gets_one_that_is_ready_and_nobody_has_used_and_the_next_is_made_meanwhile(
    slots: SlotSandboxes, counted: Counted
) -> None:
    assert not counted.opened, "nobody holds a slot yet"
    slots.expect(1)
    counted.wait_for(1)
    for number in range(1, 4):
        with used(slots) as session:
            assert session is counted.opened[number - 1]
            counted.wait_for(number + 1)  # while the run has its own
            assert session.run(SEEN).value is False
    assert len(counted.opened) == 4


def test_as_many_are_ready_as_runs_hold_slots(slots: SlotSandboxes, counted: Counted) -> None:
    slots.expect(2)
    counted.wait_for(2)
    slots.expect(1)
    with used(slots) as first, used(slots) as second:
        assert {id(first), id(second)} == {id(one) for one in counted.opened[:2]}
        counted.wait_for(4)


def test_a_broken_one_is_not_given_away(slots: SlotSandboxes, counted: Counted) -> None:
    slots.expect(1)
    counted.wait_for(1)
    counted.opened[0].close()
    with used(slots) as session:
        assert session is not counted.opened[0]
        assert session.run(CodeJob("print('here')")).output == "here\n"


def test_those_that_wait_are_tried_now_and_then(counted: Counted) -> None:
    slots = SlotSandboxes(counted, LIMITS, check_seconds=0.05)
    try:
        slots.expect(1)
        counted.wait_for(1)
        counted.opened[0].close()
        counted.wait_for(2)
    finally:
        slots.close()


def test_where_none_can_be_made_the_run_hears_why_and_the_next_works(slots: SlotSandboxes, counted: Counted) -> None:
    counted.fails = True
    slots.expect(1)
    with pytest.raises(SandboxError, match="the engine is away"), used(slots):
        pass
    counted.fails = False
    with used(slots) as session:
        assert session.run(CodeJob("1", after="1")).value == 1
    slots.expect(1)
    counted.wait_for(2)


def test_one_with_another_prelude_or_packages_is_never_given(
    slots: SlotSandboxes, counted: Counted, tmp_path: Path
) -> None:
    slots.expect(1)
    counted.wait_for(1)
    session = slots.open(Prelude(packages=tmp_path), LIMITS)
    assert session is not counted.opened[0]
    session.close()
    named = Prelude("base = 2")
    slots.open(named, LIMITS).close()
    counted.wait_for(4)
    session = slots.open(named, LIMITS)
    assert session in counted.opened and session.run(CodeJob("base", after="base")).value == 2
    session.close()


def test_nothing_is_left_at_the_end(counted: Counted) -> None:
    slots = SlotSandboxes(counted, LIMITS, check_seconds=3600.0)
    slots.expect(3)
    counted.wait_for(3)
    slots.close()
    slots.close()
    for session in counted.opened:
        with pytest.raises(SandboxError, match="closed"):
            session.run(SEEN)


SCRIPT = "import os\nif os.path.exists('/tmp/mark'): raise SystemExit(3)\nopen('/tmp/mark', 'w').close()\n"
SCRIPT += "print('Alderkop 700 m, Birkfell 450 m')"
MODEL = """
import os
from story import FACTS, ENHANCE, Story

SOLVE = "SOLVE\\nBoth.\\n```facts\\nFIND ?m\\n(Hill: Alderkop) height_m = ?m\\n```"

def decide(prompt):
    if "Alderkop" in prompt:
        if os.path.exists("go"):
            open("go").read()
        return SOLVE
    return ENHANCE

def model():
    return Story("run_python_code", {"code": SCRIPT}, extract=FACTS, decide=decide).model()
"""


@pytest.fixture
def docked(pooling: Any, docker_settings: Any) -> Any:
    """A pool of tiny servers whose runs have the sandbox ``docker``, and a model that has a script run."""
    values = {
        "sandbox": "docker",
        "sandboxes.docker.image": docker_settings.image,
        "sandboxes.docker.host": docker_settings.host,
    }
    pooling.base += [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    # Under a name of its own for this process, which may have loaded the model of another test.
    for name in ("asking.py", "asking_for_scripts.py"):
        Path(name).write_text(f"SCRIPT = {SCRIPT!r}\n{MODEL}")
    return pooling


@pytest.fixture
def containers(docker_settings: Any) -> Iterator[Callable[[int], set[str]]]:
    """Gives the containers of the sandboxes of a process, running or not."""
    with contextlib.closing(connect(docker_settings)) as client:

        def of(process: int) -> set[str]:
            found = client.containers.list(all=True, filters={"label": f"kgot.sandbox={process}"})
            return {str(one.id) for one in found}

        yield of


@pytest.mark.xdist_group("docker")
def test_every_task_of_a_batch_has_a_container_that_no_other_had(docked: Any, containers: Any) -> None:
    docked.start(2)
    done = docked.batch(4, "--pool", "default", "--model", "import:asking_for_scripts:model", jobs=2)
    assert done.exit_code == 0, done.stderr
    assert {row["status"] for row in docked.results().values()} == {"answered"}
    for name in docked.results():
        rows = [json.loads(line) for line in Path("out", name, "events.jsonl").read_text().splitlines()]
        ran = [row for row in rows if row["kind"] == "code_ran" and row["stage"] == "tool"]
        assert [(row["exit_code"], row["error"]) for row in ran] == [(0, "")], "the script found no trace of another"
    assert containers(os.getpid()) == set(), "what was made ahead has gone with the batch"


@pytest.mark.xdist_group("docker")
def test_the_containers_of_a_batch_that_is_killed_go_with_it(
    docked: Any, containers: Any, docker_settings: Any
) -> None:
    docked.start(1)
    with (
        docked.paused_batch() as batch,
        contextlib.closing(connect(docker_settings)) as client,
        Path("go").open("w"),  # opens once the run is at its place, after its script
    ):
        mine = containers(batch.pid)
        assert mine
        batch.kill()
        batch.wait()
        for container in mine:
            with contextlib.suppress(NotFound):
                client.api.wait(container, timeout=PATIENCE, condition="removed")
        assert not mine & containers(batch.pid)
    assert docked.pool("stop").exit_code == 0
