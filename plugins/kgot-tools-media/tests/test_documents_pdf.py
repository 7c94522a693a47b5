"""PDF files, written by reportlab and pypdf."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from pypdf import PdfReader, PdfWriter
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

from kgot_tools_media.parts import CannotRead


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Two pages: a table between two paragraphs, and a paragraph."""
    style = getSampleStyleSheet()["Normal"]
    lined = TableStyle([("GRID", (0, 0), (-1, -1), 1, colors.black)])
    story = [
        Paragraph("Ports of the coast in 1952.", style),
        Table([["Port", "Ships"], ["Orm", "3"], ["Sarn", "5"]], style=lined, colWidths=[220, 220]),
        Paragraph("All were counted in March.", style),
        PageBreak(),
        Paragraph("Kestrel payload 41 kg", style),
    ]
    SimpleDocTemplate(str(tmp_path / "report.pdf"), pagesize=A4, title="Coast").build(story)
    return tmp_path / "report.pdf"


def test_text_and_tables_come_page_by_page_in_their_order(read: Any, report: Path) -> None:
    reading = read(report)
    assert reading.facts == ["2 pages", "title: Coast"]
    first, second = reading.parts
    assert (first.place, second.place) == ("page 1", "page 2")
    order = ["Ports of the coast in 1952.", "| Port | Ships |", "| Sarn | 5 |", "All were counted in March."]
    places = [first.text.find(text) for text in order]
    assert -1 not in places and places == sorted(places)
    assert first.text.count("Sarn") == 1, "what stands in a table is not told a second time"
    assert "Kestrel payload 41 kg" in second.text


def test_text_beside_a_table_is_not_lost(read: Any, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "beside.pdf"), pagesize=A4)
    canvas.drawString(320, 700, "Beside the table")
    table = Table([["Port", "Ships"], ["Orm", "3"]], style=TableStyle([("GRID", (0, 0), (-1, -1), 1, colors.black)]))
    table.wrapOn(canvas, 200, 200)
    table.drawOn(canvas, 72, 690)
    canvas.drawString(72, 600, "Below")
    canvas.save()
    text = read(tmp_path / "beside.pdf").text
    assert "Beside the table" in text and "Below" in text and "| Orm | 3 |" in text


def test_pages_without_text_are_said_to_have_none(read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case D29."""
    writer = PdfWriter()
    writer.add_blank_page(300, 300)
    writer.add_blank_page(300, 300)
    writer.write(tmp_path / "scan.pdf")
    monkeypatch.setattr("kgot_tools_media.recognition._MODULES", ("no_such_module",))
    reading = read(tmp_path / "scan.pdf")
    assert len(reading.notes) == 1
    assert "no text layer, 2 pages" in reading.notes[0] and "kgot-tools-media[ocr]" in reading.notes[0]


def test_scanned_pages_are_read_by_character_recognition(call: Callable[..., Any], report: Path) -> None:
    """Case D29, with character recognition."""
    pages = pypdfium2.PdfDocument(report)
    pictures = [page.render(scale=150 / 72).to_pil().convert("L") for page in pages]
    pictures[0].save(report.with_name("scan.pdf"), save_all=True, append_images=pictures[1:], resolution=150)
    result = call("inspect_file", report.with_name("scan.pdf"))
    assert "no text layer: pages 1 to 2 were read by character recognition" in result.text
    assert "Ports of the coast in 1952" in result.text and "Kestrel payload 41 kg" in result.text
    assert any(line.split() == ["Orm", "3"] for line in result.text.split("\n")), "a row stays a row"
    assert [source.place for source in result.artifact.sources] == ["pages 1 to 2"]


def locked(report: Path, **passwords: str) -> Path:
    """Encrypts a PDF."""
    writer = PdfWriter(clone_from=PdfReader(report))
    writer.encrypt(**passwords)
    path = report.with_name("locked.pdf")
    writer.write(path)
    return path


def test_a_password_is_asked_for_and_used(read: Any, call: Callable[..., Any], report: Path) -> None:
    """Case D30: a password of the user."""
    path = locked(report, user_password="s3cret")
    with pytest.raises(CannotRead) as caught:
        read(path)
    assert "password" in caught.value.message and "give it as password" in caught.value.hint
    with pytest.raises(CannotRead) as caught:
        read(path, "wrong")
    assert "another one" in caught.value.hint
    assert "Kestrel payload 41 kg" in read(path, "s3cret").text
    refused = call("inspect_file", path)
    assert refused.failed and "locked.pdf" in refused.text and "password" in refused.text
    assert "Traceback" not in refused.text and "\n" not in refused.text


def test_a_password_of_the_owner_alone_does_not_keep_from_reading(read: Any, report: Path) -> None:
    """Case D30: a password of the owner."""
    path = locked(report, user_password="", owner_password="own")
    assert "Kestrel payload 41 kg" in read(path).text
    assert "| Orm | 3 |" in read(path).text


def test_a_damaged_pdf_is_said_to_be_damaged(read: Any, report: Path) -> None:
    report.write_bytes(b"%PDF-1.7\n" + report.read_bytes()[200:400])
    with pytest.raises(CannotRead, match="damaged"):
        read(report)
