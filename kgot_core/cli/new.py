"""Writes the package of a new plugin from ``kgot_core/scaffold``: complete, small, passing the suite of its kind."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from kgot_core.errors import UsageError

KINDS = ("backend", "solver", "strategy", "tool", "voter", "scheduler")


def make_package(name: str, kind: str, folder: Path) -> Path:
    """Writes a package into a new folder of its name.

    Args:
        name: Name of the package, for example ``kgot-orchard``.
        kind: What it offers, one of :data:`KINDS`.
        folder: Where the folder is made.

    Returns:
        The folder of the package.

    Raises:
        UsageError: The name cannot be that of a package, the folder is there already or cannot be written.
    """
    slots = _slots(name, kind)
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target.mkdir()
        for place, text in _files(kind, slots):
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            (target / place).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise UsageError(f"{target} is there already", hint="take another name, or another --folder") from None
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    return target


def _slots(name: str, kind: str) -> Mapping[str, str]:
    from kgot_core.plugins.known import is_ours

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 64:
        raise UsageError(
            f"{name!r} cannot be the name of a package",
            hint="lower-case letters, digits and single hyphens, a letter first, as in kgot-orchard",
        )
    module = name.replace("-", "_")
    short = name.removeprefix("kgot-")
    if is_ours(name) or module == "kgot_core":
        raise UsageError(f"{name} is a package of kgot itself", hint="take a name of your own, as in kgot-orchard")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or short[0].isdigit():
        raise UsageError(f"{name} cannot be the name of a Python module", hint=f"for example kgot-my-{short}")
    title = "".join(part.capitalize() for part in short.split("-"))
    return {"distribution": name, "module": module, "name": short, "Class": title, "kind": kind}


def _files(kind: str, slots: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Gives each file's place in the package, and its text."""
    from importlib.resources import files

    module = slots["module"]
    places = {
        "common/pyproject.toml": "pyproject.toml",
        "common/README.md": "README.md",
        "common/__init__.py": f"{module}/__init__.py",
        f"{kind}/plugin.py": f"{module}/plugin.py",
        f"{kind}/{kind}.py": f"{module}/{kind}.py",
        f"{kind}/test.py": f"tests/test_{module}.py",
    }
    for template, place in places.items():
        text = (files("kgot_core") / "scaffold" / f"{template}.txt").read_text("utf-8")
        yield place, re.sub(r"\{\{(\w+)\}\}", lambda found: slots[found[1]], text)
