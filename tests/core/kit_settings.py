"""Folders with files of settings, for the tests of settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgot_core.settings import Override, Settings


class Place:
    """A project folder with a folder below it, and a user's config folder."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.below = self.project / "a" / "b"
        self.config = root / "config"
        self.below.mkdir(parents=True)
        self.config.mkdir()

    def load(self, *overrides: str | Override, env: dict[str, str] | None = None, cwd: Path | None = None) -> Settings:
        """Reads the settings, from the folder below where none is named."""
        return Settings.load(cwd or self.below, env or {}, overrides, config_dir=self.config)

    def near(self, text: str) -> Path:
        """Writes the project's file."""
        (self.project / "kgot.toml").write_text(text, encoding="utf-8")
        return self.project / "kgot.toml"

    def own(self, text: str) -> Path:
        """Writes the user's file."""
        (self.config / "kgot.toml").write_text(text, encoding="utf-8")
        return self.config / "kgot.toml"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Gives the folders of a project and of its user."""
    return Place(tmp_path)
