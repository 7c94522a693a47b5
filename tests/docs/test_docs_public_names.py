"""The public names of the library: what users build on."""

from __future__ import annotations

import re
from pathlib import Path

import kgot_core

PUBLIC = [
    "Answer",
    "Evidence",
    "KgotError",
    "Session",
    "Task",
    "Usage",
    "UsageError",
    "hookimpl",
    "open",
    "resume",
    "solve",
]
HOW = (
    "The public names have changed. A new one: add it here, to docs/library.md and to CHANGELOG.md. One that goes: it"
    " first warns for two minor releases, then it goes from all three."
)


def test_the_public_names_are_those_that_were_agreed() -> None:
    assert sorted(kgot_core.__all__) == sorted(PUBLIC), HOW


def test_each_public_name_can_be_had_and_is_documented() -> None:
    section = (Path(__file__).parents[2] / "docs/library.md").read_text("utf-8").partition("## Public names")[2]
    documented = re.findall(r"`(\w+)`", section.partition(". ")[0])
    assert sorted(documented) == sorted(PUBLIC), HOW
    assert [name for name in PUBLIC if not getattr(kgot_core, name).__doc__ and name != "hookimpl"] == []
    assert dir(kgot_core) == sorted(PUBLIC)
