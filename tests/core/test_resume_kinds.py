"""A run of any kind, broken off anywhere, gives what the unbroken one gave."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kgot_core.run.record.folder import read_records

_breaking = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "breaking.py"))
KINDS, Kind, ends_as_the_whole_one = (_breaking[name] for name in ("KINDS", "Kind", "ends_as_the_whole_one"))


@pytest.mark.parametrize("name", list(KINDS)[::2])
async def test_a_broken_run_ends_as_the_whole_one(name: str, tmp_path: Path) -> None:
    kind = Kind(name, tmp_path)
    await kind.begin(tmp_path / "whole")
    events = len(list(read_records(tmp_path / "whole")))
    # Another place for each kind; make durability tries all kinds at all places.
    await ends_as_the_whole_one(kind, tmp_path, 2 + 5 * list(KINDS).index(name) % (events - 2))
