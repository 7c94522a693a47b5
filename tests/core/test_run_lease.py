"""Who writes into a run's folder: nobody else meanwhile, and whoever comes first once that process has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kgot_core.errors import KgotError, UsageError
from kgot_core.run.record import lease
from kgot_core.run.record.lease import NAME, WATCH_SECONDS, Holder, is_running, read_holder, take

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="this machine does not tell when a process began"
)


def never(seconds: float) -> None:
    raise AssertionError("nothing is to be waited for")


def leave(folder: Path, holder: Holder) -> Path:
    """Leaves a lease as another process would have."""
    (folder / NAME).write_text(json.dumps(asdict(holder)))
    return folder / NAME


def elsewhere() -> Holder:
    return replace(Holder.here(), host="node-17 pid:[1]", token="other")


@needs_proc
def test_a_run_has_one_holder_until_it_is_released(tmp_path: Path) -> None:
    held = take(tmp_path, never)
    assert is_running(tmp_path)
    with pytest.raises(UsageError, match=rf"is still running \(process {os.getpid()} on "):
        take(tmp_path, never)
    held.release()
    held.release()
    assert not is_running(tmp_path) and list(tmp_path.iterdir()) == []
    take(tmp_path, never).release()


@needs_proc
def test_the_lease_of_a_process_that_was_killed_is_taken_over_at_once(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from kgot_core.run.record.lease import take;"
        "take(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    try:
        # Its parent has not noticed its end yet: also a zombie has ended.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert read_holder(tmp_path) is not None and not is_running(tmp_path)
        take(tmp_path, never).release()
    finally:
        process.wait()


@needs_proc
def test_another_process_with_the_same_number_is_not_taken_for_the_holder(tmp_path: Path) -> None:
    leave(tmp_path, replace(Holder.here(), born="1 another boot", token="old"))
    assert not is_running(tmp_path)
    take(tmp_path, never).release()


def test_a_holder_on_another_host_that_gives_a_sign_of_life_is_left_alone(tmp_path: Path) -> None:
    path = leave(tmp_path, elsewhere())
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            os.utime(path, ns=(1, 1))

    with pytest.raises(UsageError, match=r"process .* on node-17"):
        take(tmp_path, wait)
    assert sum(waited) == 3 and read_holder(tmp_path) == elsewhere()


def test_a_holder_on_another_host_without_a_sign_of_life_is_gone_after_a_bounded_time(tmp_path: Path) -> None:
    leave(tmp_path, elsewhere())
    waited: list[float] = []
    held = take(tmp_path, waited.append)
    assert sum(waited) == WATCH_SECONDS
    assert read_holder(tmp_path) == replace(Holder.here(), token=held._holder.token)
    held.release()
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_another_host_counts_as_running_while_its_sign_of_life_is_fresh(tmp_path: Path) -> None:
    path = leave(tmp_path, elsewhere())
    assert is_running(tmp_path)
    os.utime(path, (1, 1))
    assert not is_running(tmp_path)


def test_a_lease_that_cannot_be_read_is_watched_like_one_of_another_host(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"host": "no')
    waited: list[float] = []
    take(tmp_path, waited.append).release()
    assert sum(waited) == WATCH_SECONDS


@needs_proc
def test_of_several_that_come_at_once_one_gets_it(tmp_path: Path) -> None:
    leave(tmp_path, replace(Holder.here(), born="1 another boot", token="old"))
    line = threading.Barrier(8)

    def try_it(_: int) -> lease.Lease | None:
        line.wait()
        try:
            return take(tmp_path, never)
        except UsageError:
            return None

    with ThreadPoolExecutor(8) as pool:
        held = [found for found in pool.map(try_it, range(8)) if found is not None]
    assert len(held) == 1
    held[0].release()
    assert list(tmp_path.iterdir()) == []


@needs_proc
def test_who_was_killed_while_taking_over_holds_nobody_up_for_long(tmp_path: Path) -> None:
    gone = replace(Holder.here(), born="1 another boot", token="old")
    leave(tmp_path, gone)
    claim = tmp_path / f"{NAME}.over.old"
    claim.touch()
    with pytest.raises(UsageError, match="still running"):
        take(tmp_path, never)
    os.utime(claim, (1, 1))
    take(tmp_path, never).release()
    assert list(tmp_path.iterdir()) == []


def test_who_slept_while_another_took_over_ends_and_takes_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = take(tmp_path, never)
    held.check()
    leave(tmp_path, elsewhere())
    held.check()  # within the same second
    later = lease.time.time() + 3_600
    monkeypatch.setattr(lease.time, "time", lambda: later)
    with pytest.raises(KgotError, match=r"process .* on node-17 goes on with the run"):
        held.check()
    held.release()
    assert read_holder(tmp_path) == elsewhere()
