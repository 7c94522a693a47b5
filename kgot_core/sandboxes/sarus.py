"""The sandbox ``sarus``: full Python in a container of Sarus, the engine of clusters, through its command line.

Sarus gives a file system and, asked for it, a process namespace, and no more: the network, the user and the environment
are the host's, and a site may show its folders in every container. So the worker closes the rest itself: it refuses to
work beside foreign folders, lets scripts write to one folder alone, which needs Landlock (Linux 5.19), drops the
environment, and puts a filter on that allows no sockets. The limits are the worker's alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from kgot_core.contracts.sandbox import Prelude, PythonKind, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.providers import Problem
from kgot_core.sandboxes.image.recipe import DESCRIPTION, SITE, ImageFacts
from kgot_core.sandboxes.jail.environment import PACKAGES
from kgot_core.sandboxes.providers import SarusSettings
from kgot_core.sandboxes.worker.line import FLAGS, START
from kgot_core.sandboxes.worker.process import JailProcess
from kgot_core.sandboxes.worker.session import WorkerPlan, WorkerSession

_INSTALL = "Sarus is installed by a cluster's administrators; elsewhere use bwrap, docker or monty"
_LOAD = "where Docker runs: kgot sandbox build --archive kgot.tar; then here: sarus load kgot.tar kgot-sandbox"
# Sarus hands the environment of its caller on.
_ENVIRONMENT = ("HOME", "LOGNAME", "PATH", "USER", "XDG_RUNTIME_DIR")
_READ = f"print(open({DESCRIPTION!r}).read())"


class SarusSandbox(Sandbox):
    """Starts containers of one image.

    Raises:
        SandboxError: Sarus is missing, or the image is missing or not of this version.
    """

    name = "sarus"
    python: PythonKind = "full"

    def __init__(self, settings: SarusSettings) -> None:
        self._settings = settings
        facts = _facts(settings)
        self.about = facts.about()
        self.pip_options = facts.pip_options()

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Starts a session.

        Raises:
            SandboxError: The container cannot be started or is not closed, a module of the prelude is not in the image,
                or its code fails.
        """
        line = _command(self._settings, ["-c", START], prelude.packages)
        plan = WorkerPlan(
            lambda: JailProcess(line, _environment()),
            [SITE, PACKAGES] if prelude.packages else [SITE],
            guard="closed",
            start_seconds=self._settings.start_seconds,
            input_mb=self._settings.input_mb,
        )
        return WorkerSession(plan, prelude, limits)


def check(settings: SarusSettings) -> Problem | None:
    """Lets the image describe itself."""
    try:
        _facts(settings)
    except SandboxError as error:
        return Problem(error.message, error.hint)
    return None


def _facts(settings: SarusSettings) -> ImageFacts:
    if shutil.which(settings.path) is None:
        raise SandboxError(f"sarus is not installed (no program {settings.path!r})", hint=_INSTALL)
    try:
        told = subprocess.run(
            _command(settings, ["-c", _READ]),
            capture_output=True,
            text=True,
            timeout=settings.start_seconds,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"sarus does not run the image {settings.image}: {error}", hint=_LOAD) from error
    if told.returncode:
        said = (told.stderr.strip().splitlines() or [f"exit code {told.returncode}"])[-1][:300]
        raise SandboxError(f"sarus does not run the image {settings.image}: {said}", hint=_LOAD)
    try:
        facts = ImageFacts.read(told.stdout)
        facts.refuse_other_worker()
    except SandboxError as error:
        raise SandboxError(error.message, hint=_LOAD) from None
    return facts


def _command(settings: SarusSettings, arguments: list[str], packages: Path | None = None) -> list[str]:
    options = ["--pid=private", "--workdir=/", "--entrypoint", ""]
    if packages is not None:
        options.append(f"--mount=type=bind,source={packages.resolve()},destination={PACKAGES},readonly")
    return [settings.path, "run", *options, settings.image, "python3", *FLAGS, *arguments]


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
