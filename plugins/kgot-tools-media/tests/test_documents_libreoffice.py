"""Files that LibreOffice wrote (see fixtures/make_fixtures.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgot_tools_media.parts import CannotRead

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize("ending", ["docx", "odt", "rtf", "epub", "pdf"])
def test_a_text_is_read_from_every_format(read: Any, ending: str) -> None:
    reading = read(FIXTURES / f"report.{ending}")
    for wanted in ("Harbour report", "Málaga", "Port", "Ships", "High tide 14:05", "Low tide 20:17"):
        assert wanted in reading.text
    if ending in ("docx", "epub"):
        assert "| Orm | 3 |\n| Orm | 5 |" in reading.text, "a cell over two rows belongs to both"
    if ending == "pdf":
        assert "| Orm | 3 |\n|  | 5 |" in reading.text


@pytest.mark.parametrize("ending", ["xlsx", "ods", "xls"])
def test_a_workbook_is_read_from_every_format(read: Any, ending: str) -> None:
    text = read(FIXTURES / f"ships.{ending}").text
    for wanted in (
        "## Sheet Ships",
        "Hidden rows: 3",
        "| 2 | Orm | 3 | 1.5 |",
        "| 4 | Sarn | 8 | 8 |",
        "Colours: yellow #FFFF00: B4",
        "A2:A3 = Orm",
        "| 2 | counted \\| in March |",
    ):
        assert wanted in text
    if ending != "xls":
        assert "=B2/2: C2:C3; =SUM(B2:B3): C4" in text


@pytest.mark.parametrize("ending", ["pptx", "odp"])
def test_a_presentation_is_read_from_every_format(read: Any, ending: str) -> None:
    reading = read(FIXTURES / f"deck.{ending}")
    for wanted in ("Harvest", "| 2022 | 23 |", "Notes: The barn code is 8421.", "Second slide"):
        assert wanted in reading.text
    assert "<number>" not in reading.text
    assert [part.first for part in reading.parts if part.unit == "slide"] == [1, 2]


def test_a_pdf_with_a_password_is_read_with_it(read: Any) -> None:
    with pytest.raises(CannotRead, match="protected by a password"):
        read(FIXTURES / "locked.pdf")
    assert "High tide 14:05" in read(FIXTURES / "locked.pdf", "s3cret").text


def test_an_office_file_with_a_password_is_read_with_it(read: Any, tmp_path: Path) -> None:
    from msoffcrypto.format.ooxml import OOXMLFile

    locked = tmp_path / "locked.xlsx"
    with (FIXTURES / "ships.xlsx").open("rb") as source, locked.open("wb") as target:
        OOXMLFile(source).encrypt("s3cret", target)
    for password, words in (("", "protected by a password"), ("wrong", "another password")):
        with pytest.raises(CannotRead, match=words):
            read(locked, password)
    assert "| 4 | Sarn | 8 | 8 |" in read(locked, "s3cret").text


@pytest.mark.parametrize("ending", ["docx", "xlsx", "pdf", "txt", "jpg", ""])
@pytest.mark.parametrize(
    "name",
    [
        *("report.docx", "report.odt", "report.rtf", "report.epub", "report.pdf"),
        *("ships.xlsx", "ships.ods", "ships.xls", "deck.pptx", "deck.odp"),
    ],
)
def test_a_wrong_ending_does_no_harm(read: Any, name: str, ending: str, tmp_path: Path) -> None:
    renamed = tmp_path / f"renamed.{ending}".rstrip(".")
    renamed.write_bytes((FIXTURES / name).read_bytes())
    assert read(renamed).text == read(FIXTURES / name).text
