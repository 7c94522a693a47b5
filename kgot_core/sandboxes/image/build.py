"""Builds the image of the sandboxes ``docker`` and ``sarus`` on a Docker engine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.docker.engine import told
from kgot_core.sandboxes.image.host import HostImage
from kgot_core.sandboxes.image.recipe import fill_context

if TYPE_CHECKING:
    from docker import DockerClient


def build_image(
    client: DockerClient, tag: str, packages: Sequence[str], base: str, say: Callable[[str], None] = lambda line: None
) -> None:
    """Builds from a base image, with packages from the package index.

    Args:
        client: The engine's client.
        tag: Name of the image.
        packages: Packages, as requirements.
        base: The base image: one with Python 3.11 or later, as ``python3``, with pip.
        say: Gets each line of the build.

    Raises:
        SandboxError: A step failed; the message ends with what it said.
    """
    from docker.errors import BuildError

    with tempfile.TemporaryDirectory(prefix="kgot-image-") as name, told(f"the image {tag} cannot be built"):
        fill_context(Path(name), tuple(packages))
        try:
            _, lines = client.images.build(path=name, tag=tag, buildargs={"BASE": base}, rm=True, forcerm=True)
        except BuildError as error:
            _say_all(error.build_log, say)
            hint = "kgot sandbox build --from-host needs no registry" if "pull" in error.msg else ""
            raise SandboxError(f"the image {tag} cannot be built: {error.msg}", hint=hint) from error
        _say_all(lines, say)


def _say_all(lines: Iterable[Any], say: Callable[[str], None]) -> None:
    for line in lines:
        if isinstance(line, dict) and (text := str(line.get("stream", "")).rstrip()):
            say(text)


def build_from_host(client: DockerClient, tag: str, packages: Sequence[str]) -> list[str]:
    """Builds from the running Python, without any registry; gives the packages that are in it.

    Raises:
        SandboxError: The running Python cannot be copied, or the engine does not take it.
    """
    image = HostImage(packages)
    with tempfile.TemporaryDirectory(prefix="kgot-image-") as name, told(f"the image {tag} cannot be built"):
        path = Path(name, "image.tar")
        image.write(path)
        changes = [f"ENV {key}={value}" for key, value in image.environment.items()]
        changes += ["USER 65534:65534", "WORKDIR /", 'CMD ["python3"]']
        repository, _, version = tag.partition(":")
        client.api.import_image_from_file(str(path), repository=repository, tag=version or "latest", changes=changes)
    return sorted(image.distributions)


def save_archive(client: DockerClient, tag: str, path: Path) -> None:
    """Writes an image as an archive that ``docker load`` and ``sarus load`` read.

    Raises:
        SandboxError: There is no such image, or the file cannot be written.
    """
    with told(f"the image {tag} cannot be saved"), path.open("wb") as file:
        for part in client.images.get(tag).save(named=True):
            file.write(part)
