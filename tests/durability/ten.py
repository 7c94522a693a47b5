"""Begins ten T3 runs side by side, or goes on with what is there of them: ``python ten.py FOLDER``."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import t3

import kgot_core
from kgot_core.errors import UsageError
from kgot_core.run.record.folder import read_records

RUNS = 10
SETTINGS = {"backend": "networkx", "sandbox": "monty", "models.graph": "import:t3:model"}


async def main(folder: Path) -> None:
    """Runs them all to their ends."""
    async with kgot_core.open(SETTINGS, runs=folder) as session:
        sys.stdout.write("open\n")
        sys.stdout.flush()
        await asyncio.gather(*(_run(session, number, folder / f"run-{number}") for number in range(RUNS)))


async def _run(session: kgot_core.Session, number: int, folder: Path) -> None:
    if _begun(folder):
        answer = await session.resume(folder)
    else:
        # Nothing had been accepted, so nothing had been asked.
        shutil.rmtree(folder, ignore_errors=True)
        answer = await session.solve(f"{t3.QUESTION} (run {number})", folder=folder)
    answer.raise_for_status()


def _begun(folder: Path) -> bool:
    try:
        return any(read_records(folder))
    except UsageError:
        return False


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
