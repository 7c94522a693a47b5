"""What an image for the sandboxes ``docker`` and ``sarus`` is made of, and what it says about itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.image.contents.describe import worker_hash

PACKAGES = ("matplotlib", "networkx", "numpy", "pandas", "scipy", "sympy")
"""The packages that scripts may count on in an image; the extra ``science`` brings them to the host."""
RECIPE = Path(__file__).with_name("contents")
WORKER = Path(__file__).parents[1] / "jail"
DESCRIPTION = "/opt/kgot/image.json"
SITE = "/opt/site"
BUILD = "kgot sandbox build"


@dataclass(frozen=True)
class ImageFacts:
    """What an image says about itself.

    Attributes:
        worker: Hash of the worker's source in it.
        python: Version of its Python.
        machine: Type of machine, as in ``x86_64``.
        libc: Version of its C library, empty where that is not the GNU one.
        packages: Installed packages with their versions.
    """

    worker: str
    python: str
    machine: str
    libc: str
    packages: Mapping[str, str]

    @classmethod
    def read(cls, text: str | bytes) -> ImageFacts:
        """Reads a description.

        Raises:
            SandboxError: It is none.
        """
        try:
            data: Any = json.loads(text)
            packages = {str(name): str(version) for name, version in data["packages"].items()}
            worker, python, machine, libc = (str(data[key]) for key in ("worker", "python", "machine", "libc"))
            return cls(worker, python, machine, libc, packages)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SandboxError("the image does not describe itself", hint=BUILD) from None

    def refuse_other_worker(self) -> None:
        """Checks that the image's worker is this version's.

        Raises:
            SandboxError: It is another one.
        """
        if self.worker != worker_hash(WORKER):
            raise SandboxError("the image was built for another version of kgot", hint=BUILD)

    def about(self) -> str:
        """Says what a script may use, for the model."""
        named = [name for name in PACKAGES if name in self.packages]
        return about_python(self.python, named)

    def pip_options(self) -> tuple[str, ...]:
        """Gives the options by which pip fetches wheels for the image's Python from any machine."""
        major, minor = self.python.split(".")[:2]
        options = ["--python-version", f"{major}.{minor}", "--implementation", "cp"]
        newest = int(self.libc.split(".")[1]) if self.libc.startswith("2.") else 0
        kinds = [f"manylinux_2_{number}" for number in range(newest, 16, -1)]
        for kind in [*kinds, "manylinux2014", "linux"] if newest else ["musllinux_1_2", "musllinux_1_1"]:
            options += ["--platform", f"{kind}_{self.machine}"]
        return tuple(options)


def about_python(version: str, packages: list[str]) -> str:
    """Says in two sentences what a script with full Python may use, for the model."""
    with_them = f" and {', '.join(packages)}" if packages else ""
    return (
        f"Python {version} with its standard library{with_them}. There is no network and no keyboard input; files can"
        " be read and written in the working folder only."
    )


def fill_context(folder: Path, packages: tuple[str, ...]) -> None:
    """Fills a folder with all that the Dockerfile needs."""
    for name in ("Dockerfile", "describe.py"):
        shutil.copy(RECIPE / name, folder / name)
    copy_worker(folder / "jail")
    (folder / "requirements.txt").write_text("".join(f"{name}\n" for name in packages), "utf-8")


def copy_worker(folder: Path) -> None:
    """Copies the worker's source."""
    folder.mkdir(parents=True)
    for source in sorted(WORKER.glob("*.py")):
        shutil.copyfile(source, folder / source.name)
