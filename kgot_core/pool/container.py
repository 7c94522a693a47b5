"""Servers of a pool in containers, through the engine that the sandbox ``docker`` uses too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.servers import ContainerRecipe
from kgot_core.errors import KgotError, SandboxError
from kgot_core.pool.server import RunningServer
from kgot_core.sandboxes.docker.engine import connect, told
from kgot_core.sandboxes.providers import DockerSettings

if TYPE_CHECKING:
    from docker import DockerClient

POOL_LABEL = "kgot.pool"
FOLDER_LABEL = "kgot.pool.folder"
USER_LABEL = "kgot.pool.user"
_MIB = 1024 * 1024
_STOP_SECONDS = 20
_LOG_LINES = 2_000


class ContainerServer(RunningServer):
    """A server in a container, which is removed with its data when it ends.

    Args:
        client: The engine's client.
        recipe: How it is started.
        name: Its name.
        labels: Its labels.
        log: Where its log is kept when it ends.

    Raises:
        KgotError: It cannot be started.
    """

    def __init__(
        self, client: DockerClient, recipe: ContainerRecipe, name: str, labels: dict[str, str], log: Path
    ) -> None:
        self._client, self._log = client, log
        self._gone = False
        self.words = f"container {name}"
        with told(f"a container of {recipe.image} cannot be started"):
            host = client.api.create_host_config(
                # The engine finds a free port by itself.
                port_bindings={recipe.port: ("127.0.0.1",)},
                mem_limit=recipe.memory_mb * _MIB,
                security_opt=["no-new-privileges"],
            )
            made = client.api.create_container(
                recipe.image,
                list(recipe.command) or None,
                name=name,
                ports=[recipe.port],
                environment=dict(recipe.environment),
                labels=labels,
                host_config=host,
            )
            self._id = str(made["Id"])
            try:
                client.api.start(self._id)
                ports = client.api.inspect_container(self._id)["NetworkSettings"]["Ports"]
                self.port = int(ports[f"{recipe.port}/tcp"][0]["HostPort"])
            except BaseException:
                self.end()
                raise

    def ended(self) -> str:
        """Tells with which code; nothing where the engine itself does not answer."""
        from docker.errors import NotFound

        try:
            state = self._client.api.inspect_container(self._id)["State"]
        except NotFound:
            return "its container was removed"
        except Exception:
            return ""
        if state["Running"]:
            return ""
        memory = " (out of memory)" if state.get("OOMKilled") else ""
        return f"it ended with exit code {state['ExitCode']}{memory}"

    def end(self) -> None:
        """Stops and removes it."""
        if not self._gone:
            self._gone = True
            remove(self._client, self._id, self._log)


def remove(client: DockerClient, container: str, log: Path) -> None:
    """Stops a container, keeps the end of its log, and removes it with what it stored."""
    with contextlib.suppress(Exception):
        client.api.stop(container, timeout=_STOP_SECONDS)
    with contextlib.suppress(Exception):
        text = client.api.logs(container, tail=_LOG_LINES)
        with log.open("ab") as file:
            file.write(text)
    with contextlib.suppress(Exception):
        client.api.remove_container(container, force=True, v=True)


def containers_of(client: DockerClient, pool: str) -> list[str]:
    """Gives the containers of a pool of this user, running or not."""
    filters = {"label": [f"{POOL_LABEL}={pool}", f"{USER_LABEL}={os.getuid()}"]}
    with told("the engine does not list its containers"):
        return [str(found["Id"]) for found in client.api.containers(all=True, filters=filters)]


def fetched(client: DockerClient, image: str, say: Callable[[str], Any]) -> None:
    """Makes sure that an image is there.

    Raises:
        KgotError: It is not, and cannot be fetched.
    """
    from docker.errors import APIError, ImageNotFound

    with told(f"the image {image} cannot be used"):
        try:
            client.images.get(image)
            return
        except ImageNotFound:
            say(f"fetching the image {image}")
        try:
            client.images.pull(image)
        except (ImageNotFound, APIError) as error:
            reason = str(getattr(error, "explanation", "") or error)
            raise KgotError(
                f"the image {image} cannot be fetched: {reason}",
                hint="docker pull, or load it from a file; processes instead: --set pool.servers=process",
            ) from None


def engine(settings: DockerSettings) -> DockerClient | None:
    """Gives a client of the engine; ``None`` where none answers."""
    try:
        return connect(settings)
    except SandboxError:
        return None
