"""Which files a run's tools can reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgot_core.errors import KgotError, UsageError
from kgot_core.run.desks.files import FileShelf


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a file in a folder, beside a file that nobody opened."""
    (tmp_path / "documents" / "letters").mkdir(parents=True)
    (tmp_path / "documents" / "letters" / "may.txt").write_text("may")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path.resolve()


def test_without_leave_only_the_runs_own_files_are_found(place: Path) -> None:
    shelf = FileShelf([place / "secret.txt"], None)
    assert shelf.path("secret.txt") == shelf.path(str(place / "secret.txt")) == place / "secret.txt"
    for name in (str(place / "documents/letters/may.txt"), "documents/letters/may.txt", "../secret.txt", "", "\0"):
        with pytest.raises(KgotError, match=r"belongs to this task; its files: secret\.txt"):
            shelf.path(name)


def test_files_of_an_opened_folder_are_found_by_their_path_in_it(place: Path) -> None:
    shelf = FileShelf((), None, folders=[place / "documents"])
    may = place / "documents/letters/may.txt"
    assert shelf.folders == (place / "documents",)
    assert {shelf.path(name) for name in ("letters/may.txt", "documents/letters/may.txt", str(may))} == {may}
    for name in ("../secret.txt", str(place / "secret.txt"), "letters", "letters/../../secret.txt"):
        with pytest.raises(KgotError):
            shelf.path(name)


def test_a_link_does_not_lead_out_of_an_opened_folder(place: Path) -> None:
    (place / "documents" / "link.txt").symlink_to(place / "secret.txt")
    with pytest.raises(KgotError):
        FileShelf((), None, folders=[place / "documents"]).path("link.txt")


def test_an_allowed_file_is_found_by_its_path_alone(place: Path) -> None:
    shelf = FileShelf((), None, allowed=[place / "secret.txt"])
    assert shelf.path(str(place / "secret.txt")) == place / "secret.txt"
    assert shelf.folders == () and shelf.names() == ()
    with pytest.raises(KgotError):
        shelf.path(str(place / "documents/letters/may.txt"))


def test_what_is_to_be_opened_must_be_there(place: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        FileShelf((), None, folders=[place / "secret.txt"])
    with pytest.raises(UsageError, match="does not exist"):
        FileShelf((), None, allowed=[place / "nothing"])
