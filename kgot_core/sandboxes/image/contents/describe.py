"""Describes an image from inside, while it is built: standard output gets what ``kgot`` has to know of it."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from importlib import metadata
from pathlib import Path

SITE = "/opt/site"
WORKER = "/opt/kgot/jail"


def worker_hash(folder: Path) -> str:
    """Gives a hash of the worker's source, by which an image of another version is known."""
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:16]


def describe(worker: Path, site: list[str] | None = None, names: list[str] | None = None) -> dict[str, object]:
    """Gives the versions of Python and of its packages, and the machine that they are for.

    Args:
        worker: Folder of the worker's source.
        site: Where to look for packages, everywhere by default.
        names: The packages to name, all that are found by default.
    """
    found = metadata.distributions() if site is None else metadata.distributions(path=site)
    versions = {dist.metadata["Name"].lower().replace("_", "-"): dist.version for dist in found}
    return {
        "worker": worker_hash(worker),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "libc": platform.libc_ver()[1],
        "packages": {name: versions[name] for name in sorted(versions) if names is None or name in names},
    }


if __name__ == "__main__":
    json.dump(describe(Path(WORKER), [SITE]), sys.stdout)
