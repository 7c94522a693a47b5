"""Word, PowerPoint and Excel files, written by the libraries for them."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest
from docx.oxml import parse_xml
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def test_word_text_tables_lists_and_notes_are_read(read: Any, tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Harbour report", 1)
    document.add_paragraph("Orm has three piers.")
    table = document.add_table(rows=3, cols=2)
    for place, text in enumerate(["Port", "Ships", "Orm", "3", "", "5 | 6"]):
        table.cell(place // 2, place % 2).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    document.add_paragraph("first", style="List Bullet")
    document.sections[0].header.paragraphs[0].text = "Confidential head"
    document.sections[0].footer.paragraphs[0].text = "Foot of 1952"
    document.save(tmp_path / "report.docx")
    reading = read(tmp_path / "report.docx")
    assert "# Harbour report" in reading.text
    assert "| Orm | 3 |" in reading.text.replace("Orm<br>", "Orm")
    assert "5 \\| 6 |" in reading.text, "a pipe in a cell is not the end of the cell"
    assert "- first" in reading.text
    assert "Confidential head" in reading.text and "Foot of 1952" in reading.text
    assert any(part.section == "Harbour report" for part in reading.parts), "a part names the heading above it"


def test_word_equations_are_not_lost(read: Any, tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Energy ")
    fraction = "<m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    paragraph._p.append(parse_xml(f"<m:oMath {MATH}>{fraction}{power}</m:oMath>"))
    block = document.add_paragraph()
    block._p.append(parse_xml(f"<m:oMathPara {MATH}><m:oMath><m:r><m:t>x=7</m:t></m:r></m:oMath></m:oMathPara>"))
    document.save(tmp_path / "maths.docx")
    text = read(tmp_path / "maths.docx").text
    assert "(a)/(b)c^{2}" in text
    assert "x=7" in text


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """A presentation with a chart, notes and a table."""
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Harvest"
    data = CategoryChartData()
    data.categories = ["2021", "2022"]
    data.add_series("Tonnes", (17, 23))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, Inches(2), Inches(4), Inches(3), data)
    slide.notes_slide.notes_text_frame.text = "The barn code is 8421."
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Second slide survives"
    table = slide.shapes.add_table(2, 2, 0, Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Field", "Acres"
    table.cell(1, 0).text, table.cell(1, 1).text = "Low", "12"
    presentation.save(tmp_path / "deck.pptx")
    return tmp_path / "deck.pptx"


def test_slides_give_charts_notes_and_tables(read: Any, deck: Path) -> None:
    """Case D32: the whole deck."""
    reading = read(deck)
    for wanted in ("Harvest", "| 2021 | 17 |", "| 2022 | 23 |", "8421", "Second slide survives", "| Low | 12 |"):
        assert wanted in reading.text
    assert [(part.unit, part.first) for part in reading.parts] == [("slide", 1), ("slide", 2)]


def test_an_unreadable_chart_point_does_not_lose_the_deck(read: Any, deck: Path, tmp_path: Path) -> None:
    """Case D32: the bad chart."""
    damaged = tmp_path / "damaged.pptx"
    with zipfile.ZipFile(deck) as source, zipfile.ZipFile(damaged, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.startswith("ppt/charts/chart"):
                assert b"<c:v>23" in data
                data = data.replace(b"<c:v>23.0</c:v>", b"<c:v>#N/A</c:v>").replace(
                    b"<c:v>23</c:v>", b"<c:v>#N/A</c:v>"
                )
            target.writestr(name, data)
    text = read(damaged).text
    for wanted in ("Harvest", "2021", "17", "8421", "Second slide survives"):
        assert wanted in text
    assert "These points are no numbers: Tonnes, 2022: #N/A" in text


def save(path: Path, fill: Any) -> Path:
    """Writes a workbook whose sheet a function fills."""
    workbook = openpyxl.Workbook()
    fill(workbook.active)
    workbook.save(path)
    return path


def test_merged_cells_blanks_and_the_words_na_and_none_are_kept(read: Any, tmp_path: Path) -> None:
    """Case D31."""

    def fill(sheet: Any) -> None:
        sheet.append(["Region", "Code", "Area"])
        sheet.append(["North", "NA", 4])
        sheet.append([None, "None", None])
        sheet.merge_cells("A2:A3")

    text = read(save(tmp_path / "areas.xlsx", fill)).text
    assert "| 2 | North | NA | 4 |" in text
    assert "| 3 |  | None |  |" in text
    assert "A2:A3 = North" in text
    assert "NaN" not in text and "Unnamed" not in text


def test_formulas_colours_comments_and_hidden_rows_are_told(read: Any, tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        sheet.title = "Sales"
        sheet.append(["Item", "Price", "Double"])
        for number in range(2, 6):
            sheet.append([f"item {number}", number, f"=B{number}*2"])
        sheet["A2"].fill = sheet["B2"].fill = sheet["A3"].fill = PatternFill("solid", fgColor="FFFFFF00")
        sheet["A4"].font = Font(color="FFFF0000")
        sheet["B3"].comment = Comment("checked twice", "someone")
        sheet.row_dimensions[5].hidden = True
        sheet.column_dimensions["C"].hidden = True
        sheet["B4"].number_format = "0%"

    reading = read(save(tmp_path / "sales.xlsx", fill))
    assert "Colours: yellow #FFFF00: A2:B2, A3" in reading.text
    assert "Colours of the text: red #FF0000: A4" in reading.text
    assert "Comments: checked twice: B3" in reading.text
    assert "Hidden rows: 5" in reading.text and "Hidden columns: C" in reading.text
    assert "4 (400%)" in reading.text
    assert "| 5 | item 5 | 5 | =B5*2 |" in reading.text, "a formula without a value is shown itself"
    assert any("4 formulas have no value" in note for note in reading.notes)


def test_charts_of_workbooks_give_their_data(read: Any, tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        for line in (["Port", "Ships"], ["Orm", 3], ["Sarn", 5]):
            sheet.append(line)
        chart = BarChart()
        chart.title = "Ships by port"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
        sheet.add_chart(chart, "D2")

    text = read(save(tmp_path / "chart.xlsx", fill)).text
    assert "Chart (barChart): Ships by port" in text


def test_a_far_cell_costs_nothing(read: Any, tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"] = "near"
        sheet["XFD1048576"] = "far"

    text = read(save(tmp_path / "far.xlsx", fill)).text
    assert "|  | A | XFD |" in text
    assert "| 1048576 |  | far |" in text


def test_dates_and_times_are_written_in_full(read: Any, tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        sheet.append([datetime.date(1952, 3, 1), datetime.datetime(1952, 3, 1, 14, 5), True, 0.25, 3.0, 1e20])

    text = read(save(tmp_path / "dates.xlsx", fill)).text
    assert "| 1 | 1952-03-01 | 1952-03-01 14:05:00 | TRUE | 0.25 | 3 | 1e+20 |" in text


def test_the_sheets_of_a_workbook_are_counted_and_hidden_ones_said(read: Any, tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.title = "Front"
    workbook.create_sheet("Back").sheet_state = "hidden"
    workbook["Back"]["A1"] = "secret total"
    workbook.save(tmp_path / "two.xlsx")
    reading = read(tmp_path / "two.xlsx")
    assert reading.facts == ["2 sheets: Front, Back"]
    assert "## Sheet Back (hidden)" in reading.text and "secret total" in reading.text
    assert "(no cell holds anything)" in reading.text
