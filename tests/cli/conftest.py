"""Commands run in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def in_a_folder(folder: Path) -> None:
    """Lets no test meet the tester's own settings."""
