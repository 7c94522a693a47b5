"""Starts the ranks of a batch with the MPI's own launcher, and starts them anew where one was lost."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgot_core.contracts.signals import heard_signals
from kgot_core.errors import FAILED, INTERRUPTED, WRONG_USAGE, UsageError
from kgot_mpi.leftovers import remove_leftovers, segments
from kgot_mpi.library import Flavour, launcher_flavour, launcher_path, problem
from kgot_mpi.settings import MpiSettings

# What kgot itself ends with; with anything else the launcher says that a rank was killed.
OWN_CODES = (0, FAILED, WRONG_USAGE, 3, INTERRUPTED)

# For ranks on one host: the network of a cluster need not be sought, which takes seconds, and there may be more ranks
# than cores, since most of a task is waiting.
ONE_HOST: Mapping[Flavour, tuple[str, ...]] = {
    "Open MPI 5": (
        *("--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,sm,tcp"),
        *("--mca", "osc", "^ucx"),
    ),
    "Open MPI 4": ("--oversubscribe", "--mca", "osc", "^rdma"),
}
# A rank's tools and sandboxes are processes that may use any core.
ALWAYS: Mapping[Flavour, tuple[str, ...]] = {"Open MPI 5": ("--bind-to", "none"), "Open MPI 4": ("--bind-to", "none")}


def launch_ranks(settings: MpiSettings, first: Sequence[str], again: Sequence[str]) -> int | None:
    """Starts the ranks and waits for their end.

    Args:
        settings: The settings; ``ranks`` tells how many.
        first: Command line of the batch.
        again: Command line that goes on with it.

    Returns:
        The exit code; ``None`` where no ranks are asked for.

    Raises:
        UsageError: MPI, or its launcher, is not there.
    """
    if not settings.ranks:
        return None
    if found := problem(settings):
        raise UsageError(f"the scheduler mpi is not ready: {found.message}", hint=found.hint)
    launcher = str(launcher_path(settings))
    start = [launcher, *launcher_options(settings, launcher_flavour(launcher))]
    for attempt in range(settings.restarts + 1):
        code, told = _run([*start, *(again if attempt else first)])
        if code in OWN_CODES:
            return code
        if told:
            return INTERRUPTED
        sys.stderr.write(f"kgot: a rank was lost ({Path(launcher).name} ended with {code})")
        if attempt < settings.restarts:
            sys.stderr.write(f"; going on, restart {attempt + 1} of {settings.restarts}\n")
    sys.stderr.write("; kgot resume goes on with the batch\n")
    return FAILED


def launcher_options(settings: MpiSettings, flavour: Flavour) -> list[str]:
    """Gives the options of a launcher: the user's own, else those for one host."""
    options = ["-n", str(settings.ranks)]
    if flavour == "Open MPI 5" and settings.survive:
        options += ["--with-ft", "ulfm"]
    options += ALWAYS.get(flavour, ())
    return options + (shlex.split(settings.options) if settings.options else list(ONE_HOST.get(flavour, ())))


def launcher_environment() -> dict[str, str]:
    """Gives the environment of a launcher."""
    environment = dict(os.environ)
    if os.geteuid() == 0:
        # Open MPI asks whether root means it; who runs kgot as root, as in a container, does.
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment


def _run(command: Sequence[str]) -> tuple[int, bool]:
    """Runs a command; gives its exit code, and whether this process was told to stop."""
    before = segments()
    # In a process group of its own, since the launcher would kill the ranks at the terminal's Ctrl-C.
    with (
        subprocess.Popen(command, stdin=subprocess.DEVNULL, env=launcher_environment(), process_group=0) as process,
        _handed_on(process) as came,
    ):
        code = process.wait()
    if code:
        remove_leftovers(before)
    return code if code >= 0 else 128 - code, bool(came)


@contextmanager
def _handed_on(process: subprocess.Popen[Any]) -> Iterator[list[int]]:
    """Hands signals on: the first lets the ranks end cleanly, the second ends them at once."""
    came: list[int] = []

    def hand_on(count: int) -> None:
        came.append(count)
        process.send_signal(signal.SIGUSR1 if count == 1 else signal.SIGTERM)

    with heard_signals(hand_on):
        yield came
