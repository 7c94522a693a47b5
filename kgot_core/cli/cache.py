"""``kgot cache``: what tools keep between runs, such as pages of the web."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from kgot_core.cli.output import echo
from kgot_core.cli.tables import echo_columns
from kgot_core.contracts.cache import cache_folder
from kgot_core.errors import UsageError


@dataclass(frozen=True)
class Cache:
    """A cache on disk: its name, how many files it has, their size in bytes, and where it is."""

    name: str
    files: int
    bytes: int
    folder: str


@click.group()
def cache() -> None:
    """Show what tools keep between runs, and clear it. The variable KGOT_CACHE_DIR moves it."""


@cache.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_caches(as_json: bool) -> None:
    """List every cache with its size."""
    found = caches()
    if as_json:
        echo(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=2))
    elif found:
        rows = [[one.name, f"{one.files:,}", f"{one.bytes / 2**20:,.1f} MiB", one.folder] for one in found]
        echo_columns([["CACHE", "FILES", "SIZE", "FOLDER"], *rows])
    else:
        echo(f"nothing is kept yet (below {cache_folder()})", err=True)


@cache.command(name="clear")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def clear_caches(names: Sequence[str]) -> None:
    """Remove what the caches NAME keep, all of them without a name. Runs are not touched."""
    found = {one.name: one for one in caches()}
    if unknown := [name for name in names if name not in found]:
        raise UsageError(f"there is no cache {unknown[0]}", hint=f"there are: {', '.join(found) or 'none yet'}")
    for name in names or sorted(found):
        removed = sum(_removed(file) for file in _files(Path(found[name].folder)))
        echo(f"{name}: {removed:,} files removed", err=True)


def caches() -> list[Cache]:
    """Finds the caches."""
    root = cache_folder()
    folders = sorted(one for one in root.iterdir() if one.is_dir() and not one.is_symlink()) if root.is_dir() else []
    found = []
    for folder in folders:
        sizes = [size for file in _files(folder) if (size := _size(file)) is not None]
        found.append(Cache(folder.name, len(sizes), sum(sizes), str(folder)))
    return found


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_symlink() or file.is_file())


def _size(file: Path) -> int | None:
    try:
        return file.lstat().st_size
    except OSError:  # a run that goes on may have replaced it
        return None


def _removed(file: Path) -> bool:
    try:
        file.unlink()
    except OSError:
        return False
    return True
