"""The sandbox ``bwrap``: full Python in a jail of Linux namespaces, warm, with a fork for each script."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys

from kgot_core.contracts.sandbox import Prelude, PythonKind, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.providers import Problem
from kgot_core.sandboxes.bwrap.command import build_jail
from kgot_core.sandboxes.bwrap.jail import BwrapJail
from kgot_core.sandboxes.image.recipe import PACKAGES, about_python
from kgot_core.sandboxes.jail.seccomp import jail_filter
from kgot_core.sandboxes.providers import BwrapSettings
from kgot_core.sandboxes.worker.session import WorkerPlan, WorkerSession

_INSTEAD = "kgot works here with the sandboxes monty (a subset of Python) or docker"
_INSTALL = "install bubblewrap: apt install bubblewrap, or dnf install bubblewrap"
_NAMESPACES = (
    "user namespaces may be closed here. Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor"
    " profile for bwrap; Debian: sysctl kernel.unprivileged_userns_clone=1; others: sysctl user.max_user_namespaces;"
    " in a container its owner has to allow them. Else use monty or docker"
)
_TMPFS_SIZE_SINCE = (0, 7)


class BwrapSandbox(Sandbox):
    """Starts jails with the running Python, the environment's installed packages, and nothing else of the host."""

    name = "bwrap"
    python: PythonKind = "full"

    def __init__(self, settings: BwrapSettings) -> None:
        self._settings = settings
        installed = [name for name in PACKAGES if importlib.util.find_spec(name)]
        self.about = about_python(platform.python_version(), installed)

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Starts a session.

        Raises:
            SandboxError: Bubblewrap is missing or may not work here, a module of the prelude is not installed, or its
                code fails.
        """
        program, problem = _program(self._settings)
        if problem is not None:
            raise SandboxError(problem.message, hint=problem.hint)
        jail = build_jail(prelude.packages)
        size = (self._settings.input_mb + limits.file_mb + 1) * 1024 * 1024 if _limits_tmpfs(program) else 0
        plan = WorkerPlan(
            lambda: BwrapJail(program, jail, size),
            jail.site,
            guard="",  # bubblewrap itself puts the filter on
            start_seconds=self._settings.start_seconds,
            input_mb=self._settings.input_mb,
            counts_alone=_counts_alone(),
        )
        return WorkerSession(plan, prelude, limits)


def check(settings: BwrapSettings) -> Problem | None:
    """Builds a small jail with the running Python and takes it down again."""
    program, problem = _program(settings)
    if problem is not None:
        return problem
    try:
        jail = BwrapJail(program, build_jail(), 1024 * 1024 if _limits_tmpfs(program) else 0, "pass")
    except SandboxError as error:
        return Problem(error.message, _INSTALL)
    try:
        code = jail.code(settings.start_seconds)
        if code == 0:
            return None
        said = jail.complaint() or ("it does not start in time" if code is None else f"exit code {code}")
    finally:
        jail.kill()
        jail.end()
    hint = _NAMESPACES if said.startswith("bwrap:") else _INSTEAD
    return Problem(f"bubblewrap cannot build a jail here: {said.removeprefix('bwrap: ')}", hint)


def _program(settings: BwrapSettings) -> tuple[str, Problem | None]:
    if not sys.platform.startswith("linux"):
        return "", Problem("bubblewrap needs Linux", _INSTEAD)
    if jail_filter() is None:
        return "", Problem(f"the bwrap sandbox has no filter for {platform.machine()} machines", _INSTEAD)
    found = shutil.which(settings.path)
    if found is None:
        return "", Problem(f"bubblewrap is not installed (no program {settings.path!r})", _INSTALL)
    return found, None


def _counts_alone() -> bool:
    """Tells whether the kernel counts a jail's processes apart: in a user namespace, since Linux 5.14."""
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14) and os.geteuid() != 0


def _limits_tmpfs(program: str) -> bool:
    """Tells whether this bubblewrap can limit a tmpfs; the worker watches its size in any case."""
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    found = re.search(r"(\d+)\.(\d+)", told)
    return found is not None and (int(found[1]), int(found[2])) >= _TMPFS_SIZE_SINCE
