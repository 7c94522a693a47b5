"""An image from the running Python, without any registry: interpreter, standard library, packages, shared libraries.

It holds no users and nothing else of the host: a script finds what it may use.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path, PurePosixPath

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.image.contents.describe import describe
from kgot_core.sandboxes.image.recipe import DESCRIPTION, SITE, WORKER

_PYTHON, _LIBRARIES = "/opt/python", "/opt/lib"
_LEFT_OUT = frozenset(["ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "tkinter"])
_PROGRAMS = (
    *("cat", "chmod", "cp", "cut", "date", "echo", "env", "false", "find", "grep", "head", "id", "ls", "mkdir", "mv"),
    *("rm", "sed", "sh", "sleep", "sort", "tail", "touch", "tr", "true", "uniq", "wc"),
)
# Engines give the file system that they put at /tmp the rights of the folder below it.
_FOLDERS = {"dev": 0o755, "etc": 0o755, "opt/packages": 0o755, "proc": 0o755, "sys": 0o755, "tmp": 0o1777}
_SEARCHED = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")


class HostImage:
    """The file system of an image.

    Args:
        packages: Packages to take along, with what they require, where they are installed.

    Raises:
        SandboxError: The running Python cannot be copied.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        if not sys.platform.startswith("linux") or not shutil.which("ldd"):
            raise SandboxError(
                "an image can be made from the running Python on Linux only",
                hint="kgot sandbox build, without --from-host",
            )
        self._entries: dict[str, Path] = {}
        self._missing: list[str] = []
        self.distributions = dict(_with_requirements(packages))
        """The packages that are in it, by name."""
        self._take_python()
        for distribution in self.distributions.values():
            self._take_distribution(distribution)
        for name in _PROGRAMS:
            if found := shutil.which(name, path="/usr/bin:/bin"):
                self._entries[f"/usr/bin/{name}"] = Path(found).resolve()
        self._take_libraries()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that its programs need."""
        return {"LD_LIBRARY_PATH": _LIBRARIES}

    def write(self, path: Path) -> None:
        """Writes it as a tar file."""
        described = describe(WORKER, names=sorted(self.distributions))
        links = {"/usr/bin/python3": self._python, "/bin": "usr/bin"}
        with tarfile.open(path, "w", dereference=True) as tar:
            for folder, mode in _FOLDERS.items():
                tar.addfile(_plain(tarfile.TarInfo(folder), tarfile.DIRTYPE, mode))
            for place, source in sorted(self._entries.items()):
                tar.add(source, place.lstrip("/"), recursive=False, filter=_ours)
            for source in sorted(WORKER.glob("*.py")):
                tar.add(source, f"opt/kgot/jail/{source.name}", filter=_ours)
            for place, target in links.items():
                link = _plain(tarfile.TarInfo(place.lstrip("/")), tarfile.SYMTYPE, 0o777)
                link.linkname = target
                tar.addfile(link)
            text = json.dumps(described).encode()
            info = _plain(tarfile.TarInfo(DESCRIPTION.lstrip("/")), tarfile.REGTYPE, 0o644)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))

    def _take_python(self) -> None:
        program = Path(sys.executable).resolve()
        prefix = Path(sys.base_prefix).resolve()
        if prefix not in program.parents:
            raise SandboxError(f"the running Python stands in no folder of its own: {program}")
        self._python = f"{_PYTHON}/bin/{program.name}"
        self._entries[self._python] = program
        for name in ("stdlib", "platstdlib"):
            folder = Path(sysconfig.get_path(name, vars={"base": str(prefix), "platbase": str(prefix)}))
            self._take_tree(folder, f"{_PYTHON}/{folder.relative_to(prefix)}")

    def _take_tree(self, folder: Path, place: str) -> None:
        for path in folder.iterdir():
            if path.name in _LEFT_OUT or path.name.startswith("config-"):
                continue
            if path.is_dir():
                self._take_tree(path, f"{place}/{path.name}")
            elif path.is_file():
                self._entries[f"{place}/{path.name}"] = path.resolve()

    def _take_distribution(self, distribution: metadata.Distribution) -> None:
        for file in distribution.files or ():
            parts = PurePosixPath(file).parts
            path = Path(str(distribution.locate_file(file)))
            # Programs and manuals stand outside of the folder of packages.
            if ".." in parts or "tests" in parts or not path.is_file():
                continue
            self._entries[f"{SITE}/{'/'.join(parts)}"] = path.resolve()

    def _take_libraries(self) -> None:
        programs = [path for path in self._entries.values() if path.suffix == ".so" or ".so." in path.name]
        programs += [path for place, path in self._entries.items() if "/bin/" in place]
        own = set(self._entries.values())
        for library in _libraries(sorted(set(programs))):
            if library.resolve() in own:
                continue
            searched = any(folder in library.parents for folder in map(Path, _SEARCHED))
            self._entries[str(library) if searched else f"{_LIBRARIES}/{library.name}"] = library.resolve()


def _libraries(programs: list[Path]) -> Iterator[Path]:
    """Asks the loader which shared libraries programs need."""
    for start in range(0, len(programs), 200):
        command = ["ldd", *map(str, programs[start : start + 200])]
        told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
        yield from map(Path, sorted(set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", told, re.MULTILINE))))


def _with_requirements(names: Iterable[str]) -> Iterator[tuple[str, metadata.Distribution]]:
    """Gives installed packages with all that they require."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    waiting, seen = list(names), set[str]()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        yield name, distribution
        for text in distribution.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)


def _ours(info: tarfile.TarInfo) -> tarfile.TarInfo:
    return _plain(info, info.type, 0o755 if info.mode & 0o111 else 0o644)


def _plain(info: tarfile.TarInfo, kind: bytes, mode: int) -> tarfile.TarInfo:
    """Takes the owner off; the time stays, as compiled files are known to be up to date by it."""
    info.type, info.mode = kind, mode
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info
