"""Packages for a script: which are there, which may be fetched, and fetching them outside of the jail, as wheels alone.

A model names them (the ``required_modules`` of the paper, section B.4), so what it names is data: plain names and
versions pass, addresses, paths and options do not. No code of a package runs outside of the jail.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from kgot_core.sandboxes.image.recipe import PACKAGES

SECONDS = 240.0
_LONGEST = 100
_SHOWN = 40
_PASSED = ("HOME", "LANG", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TMPDIR", "USERPROFILE", "SYSTEMROOT")
_PASSED_BEGINNINGS = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "REQUESTS_CA_BUNDLE")
# What a module is imported as, and the package that brings it.
_MODULES: Mapping[str, str] = {
    "bs4": "beautifulsoup4",
    "crypto": "pycryptodome",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "fitz": "pymupdf",
    "pil": "pillow",
    "pptx": "python-pptx",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
LOOK = """\
import importlib.metadata, importlib.util
versions = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
modules = [name for name in names if name.isidentifier() and importlib.util.find_spec(name)]
"""
"""A script for the jail, with ``names``: gives the packages and those of the names that are modules."""
LOOK_RESULT = "[versions, modules]"


def read_requirement(text: str) -> Requirement:
    """Reads a package's name, with a version where one is asked for.

    Raises:
        ValueError: It is something else; the message says what.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise ValueError(f"{text[:_LONGEST]!r}… is no package's name")
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        raise ValueError(f"{text!r} is no package's name, such as openpyxl or openpyxl==3.1") from None
    if requirement.url or requirement.marker or requirement.extras:
        raise ValueError(f"{text!r}: only a name and a version can be given, no address, extra or condition")
    if any(one.operator == "===" for one in requirement.specifier):
        raise ValueError(f"{text!r}: the version is compared by ==")
    package = _MODULES.get(requirement.name.lower(), requirement.name)
    return Requirement(f"{canonicalize_name(package)}{requirement.specifier}")


def missing(asked: Iterable[str], versions: Mapping[str, str], modules: Sequence[str]) -> list[Requirement]:
    """Gives what is not there.

    Args:
        asked: What a model named.
        versions: The packages of the jail.
        modules: Those of the names that are modules there.

    Raises:
        ValueError: A name is none, or a package is there with another version.
    """
    found = []
    there = {canonicalize_name(name): version for name, version in versions.items()}
    for text in asked:
        if text.strip().partition(".")[0] in sys.stdlib_module_names or text in modules:
            continue
        requirement = read_requirement(text)
        version = there.get(canonicalize_name(requirement.name))
        if version is None:
            found.append(requirement)
        elif not requirement.specifier.contains(version, prereleases=True):
            raise ValueError(f"{requirement.name} {version} is there, and no other version can be put beside it")
    return found


def refused(wanted: Iterable[Requirement], allowed: Iterable[str], everything: bool) -> list[str]:
    """Gives the names of those that may not be fetched.

    Raises:
        ValueError: The list of allowed packages holds what is no package's name.
    """
    names = {canonicalize_name(read_requirement(text).name) for text in allowed}
    return [] if everything else [str(one) for one in wanted if canonicalize_name(one.name) not in names]


def pinned(wanted: Iterable[Requirement], allowed: Iterable[str]) -> list[str]:
    """Gives what is to be fetched, held to the versions that the list of allowed packages names."""
    pins = {requirement.name: requirement.specifier for requirement in map(read_requirement, allowed)}
    return [f"{one.name}{one.specifier & pins[one.name] if one.name in pins else one.specifier}" for one in wanted]


def there_are(versions: Mapping[str, str]) -> str:
    """Says which packages a script may use."""
    known = sorted(versions, key=lambda name: (name.lower() not in PACKAGES, name.lower()))
    names = [f"{name} {versions[name]}" for name in known]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there are the standard library and {', '.join(names[:_SHOWN]) or 'no packages'}{more}"


async def fetch(wanted: Sequence[str], folder: Path, options: Sequence[str]) -> str:
    """Installs packages, and what they require, into a folder, with this Python's pip.

    Args:
        wanted: Names and versions, checked by :func:`read_requirement`.
        folder: The folder.
        options: Options that choose wheels for another Python, see :class:`kgot_core.contracts.sandbox.Sandbox`.

    Returns:
        What went wrong, empty where nothing did.
    """
    command = [sys.executable, str(Path(__file__).with_name("wheels_only.py")), "install", "--target", str(folder)]
    command += ["--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--no-warn-script-location", "--quiet", *options, "--", *wanted]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=_environment(),
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(SECONDS):
            told, _ = await process.communicate()
    except TimeoutError:
        return f"it took longer than {SECONDS:g} s"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        if b"No module named pip" in told:
            return "pip is not installed beside kgot"
        lines = [line for line in told.decode(errors="replace").splitlines() if line.startswith("ERROR")]
        return (lines[-1].removeprefix("ERROR: ") if lines else f"pip ended with exit code {process.returncode}")[:500]
    _open_to_all(folder)
    return ""


def _environment() -> dict[str, Any]:
    """Gives pip its own settings and nothing that is secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _PASSED or name.upper().startswith(_PASSED_BEGINNINGS)
    }


def _open_to_all(folder: Path) -> None:
    """Lets everybody read: in some jails a script is nobody."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
