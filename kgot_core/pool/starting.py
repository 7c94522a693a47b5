"""Starts the process that keeps a pool, watches until it is ready, and ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgot_core.errors import KgotError, UsageError
from kgot_core.pool.server import last_words
from kgot_core.pool.state import KEEPER, LOGS, keeper_runs, lease_name, read_pool, read_slots
from kgot_core.run.record import lease
from kgot_core.settings.names import looks_secret

POLL_SECONDS = 0.2
TRIES = 2
STOP_SECONDS = 90.0
SAYS = "kgot: "
"""How the line of an error begins."""
SETTINGS_OF_SERVERS = ("KGOT_BACKENDS__", "KGOT_SANDBOXES__")


def keeper_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Gives what the keeper needs of an environment: it asks no model, so it has no key."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(SETTINGS_OF_SERVERS) or not looks_secret(("", "", name), value)
    }


def start_keeper(
    command: Sequence[str], folder: Path, told: str, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Starts the keeper as a process that outlives this one; what it says goes into its log.

    Args:
        command: Its command line, which everybody may see.
        folder: The pool's folder.
        told: What it reads.
        environment: Its environment.
    """
    logs = folder / LOGS
    logs.mkdir(exist_ok=True, mode=0o700)
    for old in logs.glob("*.log"):
        old.unlink()
    with (logs / "keeper.log").open("ab") as log:
        keeper = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=dict(environment),
            start_new_session=True,
        )
    assert keeper.stdin is not None
    # One that ends at once is found out by whoever waits for it.
    with contextlib.suppress(BrokenPipeError), keeper.stdin:
        keeper.stdin.write(told.encode())
    return keeper


def wait_until_ready(
    keeper: subprocess.Popen[bytes],
    folder: Path,
    say: Callable[[str], Any],
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Waits until all slots of a new pool are ready.

    Raises:
        KgotError: One does not start; the pool has been ended.
    """
    told: set[str] = set()
    try:
        while True:
            if (code := keeper.poll()) is not None:
                raise _refused(folder / LOGS / "keeper.log", code)
            # Its lease is there first, so that what an earlier pool left is not taken for this one's.
            info = read_pool(folder) if keeper_runs(folder) else None
            slots = read_slots(folder, info) if info is not None else []
            for slot in slots:
                if slot.state == "ready" and slot.name not in told:
                    told.add(slot.name)
                    where = f": {slot.address}" if slot.address else ""
                    say(f"{slot.name} is ready{where} ({len(told)} of {len(slots)})")
                if slot.failures >= TRIES:
                    raise KgotError(f"{slot.name}: {slot.problem}", hint=f"its log: {folder / LOGS / slot.name}.log")
            if slots and all(slot.state == "ready" for slot in slots):
                return
            wait(POLL_SECONDS)
    except BaseException:
        if keeper.poll() is None:
            keeper.terminate()
        keeper.wait()
        raise


def _refused(log: Path, code: int) -> KgotError:
    """Gives the error with which a keeper ended, by its log: the message and, on the lines after it, the next step."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    begins = [number for number, line in enumerate(lines) if line.startswith(SAYS)]
    if not begins:
        return KgotError(f"the pool does not start: {last_words(log) or f'exit code {code}'}")
    message, *hint = lines[begins[-1] :]
    return KgotError(f"the pool does not start: {message.removeprefix(SAYS)}", hint=" ".join(map(str.strip, hint)))


def stop_keeper(folder: Path, *, force: bool, wait: Callable[[float], object] = time.sleep) -> bool:
    """Ends the keeper of a pool, and so the pool.

    Args:
        folder: The pool's folder.
        force: Also where slots are held.
        wait: Waits some seconds.

    Returns:
        Whether there was one.

    Raises:
        UsageError: Slots are held, or the keeper is on another host.
        KgotError: It does not end.
    """
    info, holder = read_pool(folder), lease.read_holder(folder, KEEPER)
    if info is None or holder is None or not keeper_runs(folder):
        return False
    if holder.gone is None:
        raise UsageError(f"the pool in {folder} is kept by {holder.words}", hint="stop it there")
    held = [slot.name for slot in read_slots(folder, info) if lease.is_running(folder, lease_name(slot.name))]
    if held and not force:
        raise UsageError(
            f"{', '.join(held)} {'is' if len(held) == 1 else 'are'} in use", hint="wait, or stop with --force"
        )
    os.kill(holder.process, signal.SIGTERM)
    for _ in range(int(STOP_SECONDS / POLL_SECONDS)):
        if not keeper_runs(folder):
            return True
        wait(POLL_SECONDS)
    raise KgotError(
        f"{holder.words} does not end the pool", hint=f"kill -9 {holder.process}, then kgot pool stop again"
    )
