"""A folder with the stand-in of ``sarus``, its image made from the running Python, and settings that name it."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
from pathlib import Path

from kgot_core.sandboxes.image.host import HostImage
from kgot_core.sandboxes.providers import SarusSettings

STAND_IN = Path(__file__).parents[1] / "fixtures" / "sarus" / "sarus.py"


class NotHere(Exception):
    """The stand-in cannot run on this machine; the message says how to make it."""


def prepare(folder: Path) -> SarusSettings:
    """Fills a folder.

    Raises:
        NotHere: Bubblewrap, which the stand-in runs containers with, is missing.
    """
    if not shutil.which("bwrap") or not shutil.which("ldd"):
        raise NotHere("the stand-in of sarus needs bubblewrap: apt install bubblewrap")
    HostImage(()).write(folder / "image.tar")
    with tarfile.open(folder / "image.tar") as tar:
        tar.extractall(folder / "root", filter="tar")
    (folder / "image.tar").unlink()
    (folder / "site.json").write_text("[]")
    program = folder / "sarus"
    program.write_text(f"#!{os.fspath(Path(sys.executable))} -B\n{STAND_IN.read_text()}")
    program.chmod(0o755)
    return SarusSettings(path=str(program))
