"""``search_files`` and reading below a folder that the user opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from reportlab.pdfgen.canvas import Canvas

import kgot_core
from kgot_core.testing.scripted_model import Asked, Say, ScriptedModel
from kgot_tools_media.folders import listed
from kgot_tools_media.ranking import Ranking
from kgot_tools_media.readings import Readings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Documents of several kinds in a tree, one hidden, one damaged."""
    root = tmp_path / "documents"
    (root / "letters" / "1952").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("harbour dues hidden")
    (root / "letters" / "1952" / "may.md").write_text("# May\n\nThe keeper Odo Marsh wrote about the harbour dues.\n")
    (root / "tides.txt").write_text("High tide at Orm is 14:05.\n")
    (root / "broken.docx").write_bytes(b"PK\x03\x04" + bytes(60))
    canvas = Canvas(str(root / "report.pdf"))
    canvas.drawString(72, 700, "Nothing of interest.")
    canvas.showPage()
    canvas.drawString(72, 700, "Lighthouse Skerry Point burns 41 litres a night.")
    canvas.save()
    book = openpyxl.Workbook()
    book.active.title = "Dues"
    book.active.append(["Ship", "Dues"])
    book.active.append(["Vela", 1952])
    book.save(root / "dues.xlsx")
    return root


def test_passages_name_file_and_page_or_row(run_in_folder: Callable[..., Any], folder: Path) -> None:
    result = run_in_folder("search_files", folder, query="lighthouse litres")
    assert '<passage file="report.pdf" place="page 2">' in result.text and "41 litres" in result.text
    assert result.artifact.sources[0].address == "report.pdf"
    dues = run_in_folder("search_files", folder, query="ship Vela")
    assert dues.artifact.sources[0].address == "dues.xlsx" and "sheet Dues, rows 1 to 2" in dues.text


def test_files_that_cannot_be_searched_are_named(run_in_folder: Callable[..., Any], folder: Path) -> None:
    result = run_in_folder("search_files", folder, query="harbour dues")
    assert "1 files are not searched: broken.docx is damaged" in result.text
    assert "letters/1952/may.md" in result.text and "hidden" not in result.text
    none = run_in_folder("search_files", folder, query="zebra")
    assert not none.failed and "no passage of the 5 files shares a word" in none.text


def test_attachments_are_searched_too(run_in_folder: Callable[..., Any], tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"note{number}.txt").write_text(f"ship number {number} called Vela{number}")
    files = [tmp_path / "note1.txt", tmp_path / "note2.txt"]
    assert "note2.txt" in run_in_folder("search_files", files=files, query="Vela2").text


def test_a_file_of_the_folder_is_read_by_its_path_or_name(run_in_folder: Callable[..., Any], folder: Path) -> None:
    for said in ("letters/1952/may.md", "may.md", "documents/letters/1952/may.md", str(folder / "letters/1952/may.md")):
        result = run_in_folder("inspect_file", folder, path=said)
        assert "Odo Marsh" in result.text, said
        assert result.artifact.sources[0].address == "letters/1952/may.md"
        assert result.text.startswith("letters/1952/may.md (may.md for scripts)")


def test_nothing_outside_the_folder_is_read(run_in_folder: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("top secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    for said in ("../secret.txt", str(tmp_path / "secret.txt"), "link.txt", "/etc/passwd", "letters/../../secret.txt"):
        result = run_in_folder("inspect_file", folder, path=said)
        assert result.failed and "top secret" not in result.text, said
    assert "<passage" not in run_in_folder("search_files", folder, query="top secret").text


def test_several_folders_keep_their_names_apart(run_in_folder: Callable[..., Any], tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.txt").write_text(f"the harbour of {name}")
    folders = [tmp_path / "one", tmp_path / "two"]
    assert [one.address for one in listed(folders)] == ["one/same.txt", "two/same.txt"]
    assert "harbour of two" in run_in_folder("inspect_file", *folders, path="two/same.txt").text


async def test_the_runs_of_a_session_read_a_folder_once_and_what_changed_anew(folder: Path, tmp_path: Path) -> None:
    queries = iter(["harbour dues", "harbour dues", "lighthouse litres", "tide"])
    read: list[str] = []

    def reply(asked: Asked) -> Any:
        if asked.tools:
            return Say("", [("search_files", {"query": next(queries)})])
        return "ENHANCE\nMore is needed."

    async def found(session: Any) -> str:
        called = [event async for event in session.stream("Which letter?") if event.kind == "tool_called"]
        return str(called[0].text)

    settings = {
        "backend": "networkx",
        "sandbox": "monty",
        "tools.enabled": ["search_files"],
        "files.folders": [str(folder)],
        "loop.max_iterations": 1,
    }
    readings = Readings.keep
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Readings, "keep", lambda self, path, *more: (read.append(path.name), readings(self, path, *more)))
        async with kgot_core.open(settings, models={"graph": ScriptedModel(reply)}, runs=None) as session:
            assert "Odo Marsh" in await found(session)
            every = {"broken.docx", "dues.xlsx", "may.md", "report.pdf", "tides.txt"}
            assert set(read) == every and len(read) == len(every)
            assert "Odo Marsh" in await found(session) and "41 litres" in await found(session)
            assert len(read) == len(every)
            (folder / "tides.txt").write_text("Low tide at Orm is 20:10, and high tide later.\n")
            assert "20:10" in await found(session)
            assert read[len(every) :] == ["tides.txt"]


def test_rare_words_count_for_more() -> None:
    ranking = Ranking(["the harbour and the sea", "the harbour dues of 1952", "the sea and the sea"])
    assert ranking.best("the dues", 3)[0] == 1
    assert ranking.best("zebra", 3) == []
    assert Ranking([]).best("anything", 3) == []
