"""Takes down what is left of a pool whose keeper was killed, and nothing else."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from pathlib import Path

from kgot_core.errors import KgotError
from kgot_core.pool.container import containers_of, engine, remove
from kgot_core.pool.place import named_pools
from kgot_core.pool.server import MARK, marked, signalled
from kgot_core.pool.state import KEEPER, LOGS, PoolInfo, forget, keeper_runs, read_pool
from kgot_core.run.record import lease
from kgot_core.sandboxes.providers import DockerSettings

STOP_SECONDS = 20.0


def dead_pools(folder: Path) -> list[Path]:
    """Gives the folders of pools of this user on this host that nobody looks after any more.

    Args:
        folder: A pool's folder to look at beside the named ones.
    """
    return [path for path in dict.fromkeys([folder, *named_pools()]) if read_pool(path) and not keeper_runs(path)]


def sweep(folder: Path, settings: DockerSettings, wait: Callable[[float], object] = time.sleep) -> list[str]:
    """Ends what is left of a dead pool: its processes by the mark in their environment, its containers by label.

    Args:
        folder: Its folder.
        settings: How the container engine is reached, where the pool itself names none.
        wait: Waits some seconds.

    Returns:
        What was ended.

    Raises:
        KgotError: Its containers cannot be reached, so that nothing is forgotten yet.
    """
    info = read_pool(folder)
    if info is None:
        return []
    # Two starts at once must not sweep a pool that one of them has just begun.
    hold = lease.take(folder, wait, name=KEEPER, what="pool")
    try:
        return take_down(folder, info, settings, wait)
    finally:
        hold.release()


def take_down(
    folder: Path, info: PoolInfo, settings: DockerSettings, wait: Callable[[float], object] = time.sleep
) -> list[str]:
    """Ends all servers of a pool that its keeper does not know of, and forgets it; see :func:`sweep`."""
    ended = [f"process {number}" for number in _end_processes(info.id, wait)]
    if info.how == "container":
        ended += _end_containers(folder, info, settings)
    forget(folder)
    return ended


def _end_processes(pool: str, wait: Callable[[float], object]) -> list[int]:
    mark = f"{MARK}={pool}"
    found = [number for number in marked(mark) if signalled(number, mark, signal.SIGTERM)]
    until = time.monotonic() + STOP_SECONDS
    while (left := list(marked(mark))) and time.monotonic() < until:
        wait(0.1)
    for number in left:
        signalled(number, mark, signal.SIGKILL)
    return found


def _end_containers(folder: Path, info: PoolInfo, settings: DockerSettings) -> list[str]:
    client = engine(DockerSettings(host=info.engine) if info.engine else settings)
    if client is None:
        raise KgotError(
            f"the containers of the dead pool in {folder} cannot be removed: no engine answers",
            hint=f"start it and try again; by hand: docker rm -fv $(docker ps -aqf label=kgot.pool={info.id})",
        )
    with contextlib.closing(client):
        found = containers_of(client, info.id)
        for container in found:
            remove(client, container, folder / LOGS / "swept.log")
    return [f"container {container[:12]}" for container in found]
