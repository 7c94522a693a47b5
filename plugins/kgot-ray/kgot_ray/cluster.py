"""The Ray that ranks run on: a cluster that is there, or one of this machine for the time of the batch."""

from __future__ import annotations

import logging
import math
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kgot_core.errors import UsageError
from kgot_ray.settings import RaySettings

OWN_VARIABLES = "KGOT_"
SILENCE = 10.0
"""Seconds after which an address that does not answer is given up."""
STORE_BYTES = 100_000_000
"""Shared memory of a Ray of our own; nothing but short messages goes through it."""


@contextmanager
def connected(settings: RaySettings) -> Iterator[None]:
    """Connects to Ray, or starts one, and leaves or ends it.

    Raises:
        UsageError: There is no Ray at the address.
    """
    # Ray tells its makers how it is used unless this says no; who wants to has set it.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if address := settings.address or os.environ.get("RAY_ADDRESS", ""):
        try:
            _refuse_silent(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError) as error:
            said = (str(error) or type(error).__name__).splitlines()[0]
            raise UsageError(
                f"there is no Ray at {address}: {said}",
                hint="start it with ray start --head, or leave schedulers.ray.address empty",
            ) from None
    else:
        ray.init(
            address="local",
            # Most of a task is waiting, so there may be more ranks than cores.
            num_cpus=max(1, math.ceil(settings.ranks * settings.cpus)),
            num_gpus=0,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
            _node_ip_address="127.0.0.1",
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    try:
        yield
    finally:
        ray.shutdown()


def _refuse_silent(address: str) -> None:
    """Tries whether anything listens, since Ray itself tries for minutes.

    Raises:
        OSError: Nothing does.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), SILENCE).close()


def rank_environment(settings: RaySettings, environment: Mapping[str, str]) -> dict[str, str]:
    """Gives the variables that ranks get from here: our own, and those that the user named."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(OWN_VARIABLES) or name in settings.environment
    }
