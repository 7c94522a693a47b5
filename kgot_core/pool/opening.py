"""From settings to a pool that can be kept."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from kgot_core.contracts.servers import Servers
from kgot_core.errors import KgotError
from kgot_core.plugins import PluginRegistry
from kgot_core.pool.container import engine
from kgot_core.pool.keeper import Keeper
from kgot_core.pool.making import Maker
from kgot_core.pool.sarus import refuse_missing
from kgot_core.pool.state import How, PoolInfo
from kgot_core.providers import BackendProvider
from kgot_core.sandboxes.providers import DockerSettings, SarusSettings
from kgot_core.settings import Settings, provider_settings

PASSWORD_BYTES = 24


def pool_backend(registry: PluginRegistry, settings: Settings) -> BackendProvider:
    """Gives the backend whose servers a pool starts."""
    names = settings.core.backend
    found = registry.get("backend", names[0]) if names else registry.default_backend()
    return cast(BackendProvider, found)


def docker_settings(registry: PluginRegistry, settings: Settings) -> DockerSettings:
    """Gives the settings of the container engine: that of the sandbox ``docker``."""
    return cast(DockerSettings, provider_settings(settings, registry.get("sandbox", "docker")))


def sarus_settings(registry: PluginRegistry, settings: Settings) -> SarusSettings:
    """Gives the settings of Sarus: those of the sandbox ``sarus``."""
    return cast(SarusSettings, provider_settings(settings, registry.get("sandbox", "sarus")))


def how_started(servers: Servers | None, settings: Settings, docker: DockerSettings, sarus: SarusSettings) -> How:
    """Decides how the servers are run.

    Raises:
        KgotError: Containers are asked for, and no engine answers.
    """
    wanted = settings.core.pool.servers
    if servers is None:
        return "none"
    if wanted == "sarus":
        refuse_missing(sarus)
    if wanted in ("process", "sarus"):
        return wanted
    client = engine(docker)
    if client is not None:
        client.close()
        return "container"
    if wanted == "container":
        from kgot_core.sandboxes.docker.engine import connect

        connect(docker)  # says why
        raise KgotError("the container engine has just come back", hint="try again")
    return "process"


def open_keeper(
    registry: PluginRegistry,
    settings: Settings,
    folder: Path,
    sandbox: str,
    stop: threading.Event,
    say: Callable[[str], Any],
) -> Keeper:
    """Prepares the keeper of a new pool.

    Args:
        registry: The plugins.
        settings: The settings.
        folder: The pool's folder.
        sandbox: The sandbox that was found to work.
        stop: Ends the pool.
        say: Told of each change.

    Raises:
        KgotError: The settings cannot be used, or containers are asked for and no engine answers.
    """
    own = settings.core.pool
    provider = pool_backend(registry, settings)
    values, docker = provider_settings(settings, provider), docker_settings(registry, settings)
    sarus = sarus_settings(registry, settings)
    how = how_started(provider.servers, settings, docker, sarus)
    info = PoolInfo(
        id=secrets.token_hex(6),
        host=socket.gethostname(),
        backend=provider.name,
        how=how,
        slots=own.slots,
        sandbox=sandbox,
        began=time.time(),
        engine=docker.host or os.environ.get("DOCKER_HOST", ""),
    )
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    maker = None
    if provider.servers is not None:
        maker = Maker(folder, info, provider.servers, values, docker, sarus, password, own.start_seconds, stop)
    # A server that starts keeps a processor busy.
    together = max(1, (os.cpu_count() or 2) // 2)
    return Keeper(folder, info, maker, password, own.check_seconds, stop, together, say)
