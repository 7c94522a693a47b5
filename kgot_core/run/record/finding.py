"""Finds runs: by path, id, the beginning of an id, or ``last``."""

from __future__ import annotations

from pathlib import Path

from kgot_core.errors import UsageError
from kgot_core.run.record.kept import EVENTS


def run_folders(folder: Path) -> list[Path]:
    """Lists the folders of runs, oldest first: a run's name begins with its time."""
    try:
        return sorted(path.parent for path in folder.glob(f"*/{EVENTS}"))
    except OSError:  # as good as none for a reader; whoever writes there is told
        return []


def find_run(name: str, folder: Path) -> Path:
    """Finds a run by its path, its id, the beginning of its id, or ``last``.

    Raises:
        UsageError: There is none, or the beginning fits several.
    """
    if (Path(name) / EVENTS).is_file():
        return Path(name)
    known = run_folders(folder)
    if name == "last" and known:
        return known[-1]
    fitting = [path for path in known if path.name.startswith(name)]
    exact = [path for path in fitting if path.name == name]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if fitting:
        raise UsageError(f"{len(fitting)} runs begin with {name!r}", hint="give more of the id")
    raise UsageError(f"there is no run {name!r} in {folder}", hint="kgot runs lists the runs")
