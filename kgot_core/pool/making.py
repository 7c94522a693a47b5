"""Starts one server of a pool, by the recipe of its backend."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgot_core.contracts.servers import ServerPlan, Servers
from kgot_core.errors import KgotError
from kgot_core.pool.container import FOLDER_LABEL, POOL_LABEL, USER_LABEL, ContainerServer, engine, fetched
from kgot_core.pool.holding import asked
from kgot_core.pool.sarus import sarus_recipe
from kgot_core.pool.server import STRANGER, ProcessServer, RunningServer, emptied, free_port, last_words, stranger_at
from kgot_core.pool.state import LOGS, PoolInfo, data_folder
from kgot_core.sandboxes.providers import DockerSettings, SarusSettings

POLL_SECONDS = 0.25


@dataclass(frozen=True)
class Maker:
    """Starts servers.

    Args:
        folder: The pool's folder.
        info: The pool.
        servers: The backend's servers.
        values: The backend's settings.
        docker: How the container engine is reached.
        sarus: How Sarus is called.
        password: The pool's password.
        start_seconds: How long a server may take to start.
        stop: Set when the pool ends.
    """

    folder: Path
    info: PoolInfo
    servers: Servers
    values: Any
    docker: DockerSettings
    sarus: SarusSettings
    password: str
    start_seconds: float
    stop: threading.Event

    def log(self, slot: str) -> Path:
        """Gives the file of a slot's log."""
        return self.folder / LOGS / f"{slot}.log"

    def made(self, slot: str, generation: int, say: Callable[[str], Any]) -> tuple[RunningServer, str]:
        """Starts a server and waits until it answers.

        Args:
            slot: The slot's name.
            generation: How many servers it has had.
            say: Told of what takes long.

        Returns:
            The server and its address.

        Raises:
            KgotError: It does not start; nothing of it is left.
        """
        data = data_folder(self.folder, self.info)
        common = data / "common"
        common.mkdir(parents=True, mode=0o700, exist_ok=True)
        plan = ServerPlan(emptied(data / slot), common, self.password)
        if self.info.how == "container":
            server = self._container(slot, generation, plan, say)
        else:
            server = self._process(slot, generation, replace(plan, port=free_port()))
        try:
            self._wait(server, slot)
        except BaseException:
            server.end()
            raise
        return server, self.servers.address(server.port)

    def answers(self, server: RunningServer) -> str:
        """Tells what is wrong with a server; empty where nothing is."""
        if stranger_at(server.port):
            return STRANGER
        address = self.servers.address(server.port)
        problem = asked(lambda: self.servers.answers(self.servers.reached(self.values, address, self.password)))
        return problem.message if problem else ""

    def _process(self, slot: str, generation: int, plan: ServerPlan) -> RunningServer:
        if self.info.how == "sarus":
            recipe = sarus_recipe(self.sarus, self.servers.container(self.values, plan), plan.folder)
        else:
            recipe = self.servers.process(self.values, plan)
        part = f"{slot}-{generation}"
        return ProcessServer(recipe, plan.folder, plan.port, self.log(slot), self.info.id, part)

    def _container(self, slot: str, generation: int, plan: ServerPlan, say: Callable[[str], Any]) -> RunningServer:
        recipe = self.servers.container(self.values, plan)
        client = engine(self.docker)
        if client is None:
            raise KgotError("the container engine does not answer any more")
        fetched(client, recipe.image, say)
        name = f"kgot-{self.info.id}-{slot}-{generation}"
        labels = {POOL_LABEL: self.info.id, USER_LABEL: str(os.getuid()), FOLDER_LABEL: str(self.folder)}
        return ContainerServer(client, recipe, name, labels, self.log(slot))

    def _wait(self, server: RunningServer, slot: str) -> None:
        waited, problem = 0.0, ""
        while waited < self.start_seconds and not self.stop.is_set():
            if end := server.ended():
                server.end()
                words = last_words(self.log(slot))
                raise KgotError(f"the server does not start: {end}{f': {words}' if words else ''}")
            if not (problem := self.answers(server)):
                return
            self.stop.wait(POLL_SECONDS)
            waited += POLL_SECONDS
        raise KgotError(f"the server does not answer after {self.start_seconds:g} s: {problem}")
