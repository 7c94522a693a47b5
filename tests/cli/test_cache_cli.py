"""``kgot cache``: what tools keep between runs is listed and cleared."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
kgot = runpy.run_path(str(FIXTURES / "command.py"))["kgot"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KGOT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(folder: Path) -> None:
    for name, size in (("pages/ab/one", 10), ("pages/cd/two", 20), ("other/three", 5)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(size))


def test_caches_are_listed_with_their_size(folder: Path) -> None:
    empty = kgot("cache", "list")
    assert (empty.exit_code, empty.stdout) == (0, "") and "nothing is kept yet" in empty.stderr
    fill(folder)
    found = {item["name"]: item for item in json.loads(kgot("cache", "list", "--json").stdout)}
    assert (found["pages"]["files"], found["pages"]["bytes"]) == (2, 30) and found["other"]["files"] == 1
    assert [line.split()[:2] for line in kgot("cache", "list").stdout.splitlines()[1:]] == [
        ["other", "1"],
        ["pages", "2"],
    ]


def test_one_or_all_are_cleared(folder: Path, tmp_path: Path) -> None:
    fill(folder)
    (tmp_path / "kept").write_text("x")
    (folder / "pages" / "link").symlink_to(tmp_path / "kept")
    assert "pages: 3 files removed" in kgot("cache", "clear", "pages").stderr
    assert (folder / "other" / "three").is_file() and (tmp_path / "kept").is_file()
    assert kgot("cache", "clear").exit_code == 0
    assert not [file for file in folder.rglob("*") if file.is_file()]


def test_an_unknown_cache_is_told(folder: Path) -> None:
    fill(folder)
    refused = kgot("cache", "clear", "page")
    assert refused.exit_code == 2 and "there is no cache page" in refused.stderr and "other, pages" in refused.stderr


def test_the_variable_that_moves_the_caches_is_no_setting(folder: Path, tmp_path: Path) -> None:
    shown = kgot("config", "show")
    assert shown.exit_code == 0 and "cache_dir" not in shown.stdout
