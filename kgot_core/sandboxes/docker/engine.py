"""The Docker engine, through the library ``docker``: found, asked, and its errors told with the next step."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.image.recipe import BUILD, DESCRIPTION, ImageFacts
from kgot_core.sandboxes.providers import DockerSettings

if TYPE_CHECKING:
    from docker import DockerClient

INSTALL = "pip install 'kgot-core[docker]'"
START = (
    "start Docker (Debian and Ubuntu: apt install docker.io), let your user reach it (group docker), or name another"
    " engine in sandboxes.docker.host or DOCKER_HOST"
)
_ASK_SECONDS = 10


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Turns the library's errors into a :class:`SandboxError` that begins with what could not be done."""
    from docker.errors import APIError, DockerException, ImageNotFound

    try:
        yield
    except ImageNotFound as error:
        raise SandboxError(f"{what}: there is no such image", hint=BUILD) from error
    except APIError as error:
        raise SandboxError(f"{what}: {error.explanation or error}") from error
    except (DockerException, OSError) as error:  # the errors of its HTTP client are OSErrors
        raise SandboxError(f"{what}: {_root(error)}", hint=START) from error


def connect(settings: DockerSettings) -> DockerClient:
    """Gives a client of the engine, which has answered.

    Raises:
        SandboxError: The library is missing, or no engine answers.
    """
    try:
        import docker
    except ImportError:
        raise SandboxError("the Python library docker is not installed", hint=INSTALL) from None
    address = settings.host or os.environ.get("DOCKER_HOST", "")
    with told(f"no Docker engine answers{f' at {address}' if address else ''}"):
        seconds = max(_ASK_SECONDS, int(settings.start_seconds))
        if settings.host:
            client = docker.DockerClient(base_url=settings.host, timeout=seconds)
        else:
            client = docker.from_env(timeout=seconds)
        client.ping()
    return client


def image_facts(client: DockerClient, image: str) -> tuple[str, ImageFacts]:
    """Reads an image's identity, and what it says about itself, without running anything in it.

    Raises:
        SandboxError: There is no such image, or it was not built by kgot, or for another version.
    """
    with told(f"the image {image} cannot be used"):
        number = str(client.images.get(image).id)
        container = client.api.create_container(number, ["true"], network_disabled=True)["Id"]
        try:
            parts, _ = client.api.get_archive(container, DESCRIPTION)
            data = b"".join(parts)
        finally:
            client.api.remove_container(container, force=True, v=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        file = tar.extractfile(tar.getmembers()[0])
        facts = ImageFacts.read(file.read() if file else b"")
    facts.refuse_other_worker()
    return number, facts


def _root(error: BaseException) -> str:
    """Gives the innermost cause: the library wraps what the system said several times."""
    while error.__context__ is not None:
        error = error.__context__
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:300]
