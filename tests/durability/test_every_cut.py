"""A run of any kind, broken off after any of its events, gives what the unbroken one gave."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kgot_core.run.record.folder import read_records

_breaking = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "breaking.py"))
KINDS, Kind, ends_as_the_whole_one = (_breaking[name] for name in ("KINDS", "Kind", "ends_as_the_whole_one"))


@pytest.mark.durability
@pytest.mark.parametrize("name", KINDS)
async def test_a_run_broken_off_anywhere(name: str, tmp_path: Path) -> None:
    kind = Kind(name, tmp_path)
    await kind.begin(tmp_path / "whole")
    for events in range(1, len(list(read_records(tmp_path / "whole"))) + 1):
        await ends_as_the_whole_one(kind, tmp_path, events)
