"""The sandbox ``docker``: full Python in a closed container, warm, with a fork for each script."""

from __future__ import annotations

import os
import platform
import select
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.sandbox import Prelude, PythonKind, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.providers import Problem
from kgot_core.sandboxes.docker.engine import connect, image_facts
from kgot_core.sandboxes.docker.jail import DockerJail
from kgot_core.sandboxes.image.recipe import SITE
from kgot_core.sandboxes.jail.environment import ENVIRONMENT, PACKAGES
from kgot_core.sandboxes.providers import DockerSettings
from kgot_core.sandboxes.worker.line import FLAGS, START
from kgot_core.sandboxes.worker.session import WorkerPlan, WorkerSession

if TYPE_CHECKING:
    from docker import DockerClient

_MIB = 1024 * 1024
_NOBODY = "65534:65534"


class DockerSandbox(Sandbox):
    """Starts containers of one image, and keeps the connection to the engine.

    Raises:
        SandboxError: No engine answers, or the image is missing or not of this version.
    """

    name = "docker"
    python: PythonKind = "full"

    def __init__(self, settings: DockerSettings) -> None:
        self._settings = settings
        self._client = _connected(settings)
        self._image, facts = image_facts(self._client, settings.image)
        self.about = facts.about()
        self.pip_options = facts.pip_options()

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Starts a session.

        Raises:
            SandboxError: The container cannot be started, a module of the prelude is not in the image, or its code
                fails.
        """
        options = container_options(self._client, self._settings, limits, prelude.packages)
        path = [SITE, PACKAGES] if prelude.packages else [SITE]
        plan = WorkerPlan(
            lambda: DockerJail(self._client, self._image, ["python3", *FLAGS, "-c", START], options),
            path,
            guard="filter",
            start_seconds=self._settings.start_seconds,
            input_mb=self._settings.input_mb,
        )
        return WorkerSession(plan, prelude, limits)


def container_options(
    client: DockerClient, settings: DockerSettings, limits: SandboxLimits, packages: Path | None
) -> dict[str, Any]:
    """Gives everything that closes a container: no network, rights or writable root, and limits on all that it uses.

    The worker's own limits, which are a job's, lie below these, which are the session's: they end what it misses.
    """
    from docker.types import LogConfig

    written = settings.input_mb + limits.file_mb + 1
    memory = f"{limits.memory_mb + written + settings.spare_mb}m"
    binds = [f"{packages.resolve()}:{PACKAGES}:ro"] if packages else None
    host = client.api.create_host_config(
        auto_remove=True,
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        ipc_mode="private",
        tmpfs={"/tmp": f"rw,nosuid,nodev,size={written}m,mode=1777"},
        shm_size=(limits.file_mb + 1) * _MIB,
        mem_limit=memory,
        memswap_limit=memory,
        nano_cpus=int(settings.cpus * 1e9),
        pids_limit=max(256, limits.processes + 64),
        log_config=LogConfig(type="none"),
        binds=binds,
        runtime=settings.runtime or None,
    )
    return {
        "host_config": host,
        "user": _NOBODY,
        "hostname": "sandbox",
        "working_dir": "/",
        "environment": ENVIRONMENT,
        "entrypoint": [],
        "healthcheck": {"test": ["NONE"]},
        "network_disabled": True,
        "labels": {"kgot.sandbox": str(os.getpid())},
    }


def check(settings: DockerSettings) -> Problem | None:
    """Asks the engine for the image; runs nothing."""
    try:
        image_facts(_connected(settings), settings.image)
    except SandboxError as error:
        return Problem(error.message, error.hint)
    return None


def _connected(settings: DockerSettings) -> DockerClient:
    if not hasattr(select, "poll"):
        raise SandboxError(
            f"the docker sandbox does not work on {platform.system()}", hint="run kgot inside the Linux subsystem (WSL)"
        )
    return connect(settings)
