"""Starts the ranks of a batch as Ray tasks, shows what they say, and waits for their end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from kgot_core.contracts.signals import heard_signals
from kgot_core.errors import FAILED, INTERRUPTED
from kgot_ray.cluster import connected, rank_environment
from kgot_ray.desk import Desk
from kgot_ray.ranks import run_rank
from kgot_ray.settings import RaySettings

QUESTIONS = 10_000
"""How many questions may wait at the desk: one for each task that runs, and a few for each rank."""
LOOK = 0.5
"""Seconds between two looks at whether a signal came."""
QUIET = 30.0
"""Seconds without a word of any rank after which it is said that there is no room for one."""


def launch_ranks(settings: RaySettings, command: Sequence[str]) -> int:
    """Starts the ranks and waits for their end.

    Args:
        settings: The settings; ``ranks`` tells how many.
        command: The command of the batch, ``python -m MODULE …``; it goes on with a batch that is there.

    Returns:
        The exit code of the whole.

    Raises:
        KgotError: There is no Ray at the address.
    """
    with connected(settings):
        # On this node, so that it is lost only with the launcher, which Ray would end all ranks for anyhow.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        name = f"kgot-desk-{ray.get_runtime_context().get_job_id()}"
        remote: Any = ray.remote(Desk)
        options = {"num_cpus": 0, "max_concurrency": QUESTIONS, "scheduling_strategy": here}
        desk = remote.options(name=name, **options).remote()
        came: list[int] = []
        with heard_signals(came.append):
            return _Watch(settings, desk, name, came).until_the_end(command)


class _Watch:
    """Watches over the ranks."""

    def __init__(self, settings: RaySettings, desk: Any, name: str, came: list[int]) -> None:
        self._settings = settings
        self._desk = desk
        self._name = name
        self._came = came
        self._codes: dict[int, int] = {}
        self._lines: set[str] = set()
        self._told_quiet = False

    def until_the_end(self, command: Sequence[str]) -> int:
        """Starts the ranks and gives the exit code of the whole."""
        settings = self._settings
        # A process of its own for each, which ends with it; Ray starts it anew where it is lost, with the same rank.
        task: Any = ray.remote(
            max_calls=1, max_retries=settings.restarts, num_cpus=settings.cpus, scheduling_strategy="SPREAD"
        )(run_rank)
        rest = (settings.ranks, list(command), str(Path.cwd()), rank_environment(settings, os.environ))
        ranks = {task.remote(self._name, rank, *rest): rank for rank in range(settings.ranks)}
        said = self._desk.said.remote(True)
        stopped = False
        while ranks and not self._has_no_room():
            ended, _ = ray.wait([*ranks, said], num_returns=1, timeout=LOOK)
            for reference in ended:
                if reference in ranks:
                    self._end(ranks.pop(reference), reference)
                else:
                    self._show(ray.get(said))
                    said = self._desk.said.remote(True)
            if len(self._came) > 1:
                return INTERRUPTED
            if self._came and not stopped:
                stopped = True
                ray.get(self._desk.stop.remote())
                sys.stderr.write("kgot: interrupted; the running tasks come to their ends (once more: at once)\n")
                sys.stderr.flush()
        self._show(ray.get(said))
        self._show(ray.get(self._desk.said.remote(False)))
        return self._code()

    def _has_no_room(self) -> bool:
        """Tells whether no rank runs and none is to be expected, as where the nodes with room for one are gone."""
        quiet = float(ray.get(self._desk.quiet.remote()))
        if quiet < QUIET:
            self._told_quiet = False
            return False
        if self._came:
            return True  # nobody is there to come to an end
        wait = self._settings.room_seconds
        if not self._told_quiet:
            self._told_quiet = True
            sys.stderr.write(
                f"kgot: no rank has been heard of for {quiet:.0f} s: no node of the cluster has {self._settings.cpus:g}"
                f" free processors (schedulers.ray.cpus); waiting for up to {wait:g} s\n"
            )
            sys.stderr.flush()
        return quiet >= max(wait, QUIET)

    def _end(self, rank: int, reference: Any) -> None:
        try:
            self._codes[rank] = ray.get(reference)
        except RayError as error:
            ray.get(self._desk.lost.remote(rank))
            sys.stderr.write(
                f"kgot: rank {rank} was lost ({type(error).__name__}), restarts used up; the others take over\n"
            )

    def _code(self) -> int:
        codes = set(self._codes.values())
        if INTERRUPTED in codes or (self._came and codes != {0}):
            return INTERRUPTED
        if not codes:
            why = "there is no room for a rank in the cluster" if self._told_quiet else "all ranks were lost"
            sys.stderr.write(f"kgot: {why}; kgot resume goes on with the batch\n")
            return FAILED
        # A rank ends with 0 only where every task has its record, whatever became of others.
        return min(codes)

    def _show(self, said: Sequence[tuple[int, str, str]]) -> None:
        for rank, stream, text in said:
            for line in text.splitlines(keepends=True):
                # What all ranks say, such as that a model is not ready, is said once.
                if stream == "stderr" and rank and line in self._lines:
                    continue
                self._lines.add(line)
                out = sys.stdout if stream == "stdout" else sys.stderr
                out.write(line)
                out.flush()
