"""The bubblewrap command line of a jail: which Python it holds, where that stands inside, and nothing else of the host.

A Python outside the system's own folders, and the site-packages of the environment, get neutral places below ``/opt``:
their paths on the host would name the user, and would turn up in error texts.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.jail.environment import ENVIRONMENT, PACKAGES
from kgot_core.sandboxes.worker.line import FLAGS

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_STORES = ("/nix/store", "/gnu/store")
_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_INSIDE_PYTHON, _INSIDE_SITE, _INSIDE_WORKER = "/opt/python", "/opt/site", "/opt/kgot"


@dataclass
class Jail:
    """A jail to be built.

    Attributes:
        options: Options of bubblewrap that make its file system.
        python: The interpreter's place in it.
        site: The places of the site-packages in it, in the order of ``sys.path``.
        environment: All environment variables in it.
    """

    python: str = ""
    options: list[str] = field(default_factory=list)
    site: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT))
    _places: list[tuple[Path, str]] = field(default_factory=list)
    _folders: set[str] = field(default_factory=set)

    def bind(self, source: Path, target: str) -> str:
        """Shows a file or folder of the host, read-only, and gives its place."""
        for parent in reversed(Path(target).parents):
            self.folder(str(parent))
        self.options += ["--ro-bind", str(source), target]
        self._places.append((source, target))
        return target

    def folder(self, path: str) -> None:
        """Makes a folder that everybody may enter; bubblewrap's own choice of mode is for the owner alone."""
        shown = any(path == target or path.startswith(target + "/") for _, target in self._places)
        if path != "/" and path not in self._folders and not shown:
            self._folders.add(path)
            self.options += ["--dir", path]

    def link(self, target: str, path: Path) -> None:
        """Repeats a symbolic link of the host."""
        self.options += ["--symlink", target, str(path)]
        self._places.append((path, str(path)))

    def place(self, source: Path) -> str:
        """Gives where a path of the host stands inside, empty where it is not shown."""
        for root, target in self._places:
            if source == root or root in source.parents:
                return str(Path(target, source.relative_to(root)))
        return ""

    def folder_place(self, folder: Path) -> str:
        """Gives where a folder stands inside, or where single files of it do, empty where it is not shown."""
        some = (str(Path(target).parent) for source, target in self._places if source.parent == folder)
        return self.place(folder) or next(some, "")


def build_jail(packages: Path | None = None) -> Jail:
    """Describes a jail for the running Python.

    Args:
        packages: A folder of further packages.

    Raises:
        SandboxError: There is no interpreter to start.
    """
    jail = Jail()
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            jail.link(str(path.readlink()), path)
        elif path.is_dir():
            jail.bind(path, str(path))
    for text in _ETC:
        if Path(text).exists():
            jail.bind(Path(text), text)
    _show_python(jail)
    for number, folder in enumerate(_site_folders()):
        jail.site.append(jail.place(folder) or jail.bind(folder, f"{_INSIDE_SITE}/{number}"))
    if packages is not None:
        jail.site.append(jail.bind(packages, PACKAGES))
    _show_libraries(jail)
    jail.bind(Path(__file__).parents[1] / "jail", f"{_INSIDE_WORKER}/jail")
    jail.folder("/dev")
    for name in _DEVICES:
        jail.options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for target, link in (("/proc/self/fd", "/dev/fd"), ("/tmp/shm", "/dev/shm")):
        jail.options += ["--symlink", target, link]
    return jail


def _show_python(jail: Jail) -> None:
    if not sys.executable:
        raise SandboxError("the sandbox cannot tell which Python runs here (sys.executable is empty)")
    program, prefix = Path(sys.executable).resolve(), Path(sys.base_prefix).resolve()
    if store := next((store for store in map(Path, _STORES) if store in program.parents), None):
        jail.bind(store, str(store))
    if not jail.place(program):
        # Only what Python needs of its prefix: beside it there may be other environments, or a whole home.
        inside = _INSIDE_PYTHON if prefix in program.parents else str(prefix)
        relative = program.relative_to(prefix) if prefix in program.parents else Path("bin/python3")
        jail.bind(program, f"{inside}/{relative}")
        for library in ("lib", "lib64"):
            if (prefix / library).is_dir() and not jail.place(prefix / library):
                jail.bind(prefix / library, f"{inside}/{library}")
        if sysconfig.get_config_var("Py_ENABLE_SHARED"):
            jail.environment["LD_LIBRARY_PATH"] = f"{inside}/lib"
    jail.python = jail.place(program)


def _site_folders() -> Iterable[Path]:
    named = (Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages"))
    return dict.fromkeys(folder.resolve() for folder in named if folder.is_dir())


def _show_libraries(jail: Jail) -> None:
    """Shows the shared libraries of this process that stand elsewhere, at their own paths, but none from a home."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    loaded = {Path(path) for path in re.findall(r" (/\S+\.so[.\d]*)$", maps.read_text(), re.MULTILINE)}
    homes = (Path(os.path.expanduser("~")), Path("/home"), Path("/root"), Path("/tmp"))  # noqa: PTH111
    for library in sorted(loaded):
        if not jail.place(library) and library.is_file() and not any(home in library.parents for home in homes):
            jail.bind(library, str(library))
    searched = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    needed = [place for entry in searched if entry and (place := jail.folder_place(Path(entry)))]
    if needed:
        own = jail.environment.get("LD_LIBRARY_PATH")
        jail.environment["LD_LIBRARY_PATH"] = ":".join([own, *needed] if own else needed)


def command(path: str, jail: Jail, tmpfs_bytes: int, seccomp_fd: int, info_fd: int) -> list[str]:
    """Gives the whole command line, up to the interpreter.

    Args:
        path: The bubblewrap program.
        jail: The file system.
        tmpfs_bytes: Size of the one writable place, 0 where this bubblewrap cannot limit it.
        seccomp_fd: Open file with the filter of system calls.
        info_fd: Open file that bubblewrap writes the first process's number to.
    """
    options = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--hostname", "sandbox", "--new-session", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # Without a user namespace, root in the jail would be root; the worker becomes nobody before anything else.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            options += ["--cap-add", capability]
    else:
        options += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    options += [*jail.options, "--proc", "/proc"]
    options += ["--size", str(tmpfs_bytes)] if tmpfs_bytes else []
    options += ["--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/", "--seccomp", str(seccomp_fd)]
    options += ["--info-fd", str(info_fd)]
    return [path, *options, "--", jail.python, *FLAGS]
