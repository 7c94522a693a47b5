"""Formats that are text: tables, pages, data, mail, books."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgot_tools_media.markdown import cell, cells, row
from kgot_tools_media.parts import CannotRead
from kgot_tools_media.readers.delimited import find_shape
from kgot_tools_media.text import decode

plain_cells = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from('\n|\\<br>,;\t"'), max_size=12)


@given(st.lists(plain_cells, min_size=1, max_size=5))
def test_a_row_reads_back_as_it_was(values: list[str]) -> None:
    assert "\n" not in row(values)
    assert cells(row(values)) == values


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(
        st.lists(st.text("ab ,;|\t\"'\n1", min_size=1, max_size=6), min_size=3, max_size=3), min_size=3, max_size=8
    )
)
def test_a_table_of_any_delimiter_is_read_back(delimiter: str, rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    # As most programs do: numbers and words are put into quotes, so that the delimiter cannot be mistaken.
    csv.writer(written, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    shape = find_shape(written.getvalue())
    assert list(shape.rows(written.getvalue())) == rows


def table_of(reading: Any) -> list[list[str]]:
    """Reads the Markdown table of a reading back."""
    lines = [line for line in reading.text.split("\n") if line.startswith("|")]
    return [cells(line) for line in [lines[0], *lines[2:]]]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_a_table_whose_first_kilobytes_are_ascii_keeps_its_accents(read: Any, tmp_path: Path, encoding: str) -> None:
    """Case D28."""
    path = tmp_path / "cities.csv"
    text = "id,city\n" + "".join(f"{number},Rome\n" for number in range(1, 1_500)) + "1500,Málaga\n"
    path.write_bytes((text + "1501,Turku\n").encode(encoding))
    rows = table_of(read(path))
    assert len(rows) == 1 + 1_501
    assert rows[0] == ["id", "city"]
    assert rows[-2] == ["1500", "Málaga"]


def test_a_table_with_semicolons_and_commas_in_numbers(read: Any, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("item;price\nrope;3,50\noar;12,00\n")
    reading = read(tmp_path / "prices.csv")
    assert table_of(reading) == [["item", "price"], ["rope", "3,50"], ["oar", "12,00"]]
    assert "delimiter semicolon" in reading.facts


def test_quotes_escaped_by_a_backslash_are_read_and_said(read: Any, tmp_path: Path) -> None:
    (tmp_path / "episodes.csv").write_text(
        '"No","Title"\n"1","\\"Intro\\""\n"2","He said \\"go\\", and left"\n"3",""\n'
    )
    reading = read(tmp_path / "episodes.csv")
    assert table_of(reading)[1:] == [["1", '"Intro"'], ["2", 'He said "go", and left'], ["3", ""]]
    assert any("escapechar" in note for note in reading.notes)


def test_a_table_from_a_wiki_keeps_every_cell(read: Any, tmp_path: Path) -> None:
    rows = [
        ["Season", "Giant\nSlalom", "Result"],
        ["2004–05", "–", 'Lost "the final", 1–2'],
        ["", "1 | 2", "C:\\ports"],
        ["Søren Ødegård", "<br>", "a\\"],
    ]
    written = "".join(",".join('"' + cell.replace('"', '\\"') + '"' for cell in row) + "\n" for row in rows[:2])
    written += '"","1 | 2","C:\\\\ports"\n"Søren Ødegård","<br>","a\\\\"\n'
    (tmp_path / "wiki.csv").write_text(written, encoding="utf-8")
    assert table_of(read(tmp_path / "wiki.csv")) == rows


def test_rows_of_other_lengths_are_said(read: Any, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n3\n4,5\n")
    reading = read(tmp_path / "odd.csv")
    assert table_of(reading)[2] == ["3", ""]
    assert reading.notes == ["most rows have 2 cells, but these have another number: 3"]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ('<meta charset="shift_jis"><title>東京</title><p>港</p>'.encode("shift_jis"), "東京"),
        ("<p>Estação</p>".encode(), "Estação"),
        ("<p>Estação</p>".encode("utf-16"), "Estação"),
    ],
)
def test_pages_are_read_in_the_encoding_that_they_name(read: Any, tmp_path: Path, data: bytes, wanted: str) -> None:
    (tmp_path / "page.html").write_bytes(data)
    reading = read(tmp_path / "page.html")
    shown = reading.text + " ".join(reading.facts)
    assert wanted in shown
    assert "�" not in shown and "Ã" not in shown


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252"])
def test_texts_are_decoded(encoding: str) -> None:
    text = "Ein Gespräch über Häfen\r\nund Schiffe\n"
    assert decode(text.encode(encoding)).text == text


def test_cells_over_several_rows_and_columns_are_repeated(read: Any, tmp_path: Path) -> None:
    page = (
        "<table><tr><th>Port</th><th colspan=2>Ships</th></tr><tr><td rowspan=2>Orm</td><td>3</td><td>x|y</td></tr>"
        "<tr><td>5<br>6</td><td>z</td></tr></table><script>alert(1)</script><p>See <a href='/orm'>Orm</a></p>"
    )
    (tmp_path / "page.html").write_text(page)
    reading = read(tmp_path / "page.html")
    assert table_of(reading) == [["Port", "Ships", "Ships"], ["Orm", "3", "x|y"], ["Orm", "5\n6", "z"]]
    assert "[Orm](/orm)" in reading.text
    assert "alert" not in reading.text


@pytest.mark.parametrize("span", ["²", "9" * 5_000, "-1", "", "1e9"])
def test_a_span_that_is_no_number_loses_no_page(read: Any, tmp_path: Path, span: str) -> None:
    spans = f"colspan='{span}' rowspan='{span}'"
    rows = f"<tr><td {spans}>Orm</td><td>3</td></tr><tr><td>Sarn</td><td>5</td></tr>"
    (tmp_path / "page.html").write_text(f"<ol start='{span}'><li>Ports</li></ol><table>{rows}</table>")
    text = read(tmp_path / "page.html").text
    assert "Ports" in text and "| Orm | 3 |" in text and "| Sarn | 5 |" in text


def test_json_on_one_line_is_laid_out_and_damaged_json_shown(read: Any, tmp_path: Path) -> None:
    (tmp_path / "long.json").write_text(json.dumps([{"name": f"port {number}"} for number in range(300)]))
    (tmp_path / "bad.json").write_text('{"name": "Orm", ')
    assert read(tmp_path / "long.json").facts[0] == "a list of 300 items"
    assert '"name": "port 299"' in read(tmp_path / "long.json").text
    bad = read(tmp_path / "bad.json")
    assert bad.text == '{"name": "Orm", '
    assert "not valid JSON" in bad.notes[0]


def test_json_lines_say_which_are_wrong(read: Any, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"a": 1}\nnot json\n{"a": 2}\n')
    reading = read(tmp_path / "log.jsonl")
    assert reading.notes == ["these lines are not valid JSON: 2"]
    assert '{"a": 2}' in reading.text


def test_xml_does_not_follow_entities(read: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret 4417")
    (tmp_path / "x.xml").write_text(f'<!DOCTYPE r [<!ENTITY s SYSTEM "{secret.as_uri()}">]><r><port>&s;</port></r>')
    assert "4417" not in read(tmp_path / "x.xml").text


def test_notebooks_give_code_with_what_it_printed(read: Any, tmp_path: Path) -> None:
    code = {"cell_type": "code", "source": ["print(6 * 7)"], "outputs": [{"output_type": "stream", "text": ["42\n"]}]}
    notebook = {"cells": [{"cell_type": "markdown", "source": "# Sums"}, code], "metadata": {}, "nbformat": 4}
    (tmp_path / "sums.ipynb").write_text(json.dumps(notebook))
    reading = read(tmp_path / "sums.ipynb")
    assert "# Sums" in reading.text and "print(6 * 7)" in reading.text and "42" in reading.text
    assert [part.place for part in reading.parts] == ["cell 1", "cell 2"]


def test_mail_gives_heads_text_and_names_of_what_is_attached(read: Any, tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "odo@example.org", "mara@example.org", "Tide für Orm"
    message.set_content("High tide is at 14:05.")
    message.add_attachment(b"port,ships\nOrm,3\n", maintype="text", subtype="csv", filename="ships.csv")
    (tmp_path / "mail.eml").write_bytes(bytes(message))
    reading = read(tmp_path / "mail.eml")
    assert "Subject: Tide für Orm" in reading.text and "14:05" in reading.text
    assert any("ships.csv (17 bytes)" in note and "extract_archive" in note for note in reading.notes)


def test_books_are_read_in_their_order(read: Any, tmp_path: Path) -> None:
    container = '<container><rootfiles><rootfile full-path="o/p.opf"/></rootfiles></container>'
    package = (
        "<package xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata><dc:title>Tides</dc:title></metadata><manifest>"
        "<item id='b' href='b.xhtml'/><item id='a' href='a.xhtml'/></manifest>"
        "<spine><itemref idref='a'/><itemref idref='b'/></spine></package>"
    )
    with zipfile.ZipFile(tmp_path / "book.epub", "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", container)
        book.writestr("o/p.opf", package)
        book.writestr("o/b.xhtml", "<html><body><h1>Ebb</h1><p>second</p></body></html>")
        book.writestr("o/a.xhtml", "<html><body><h1>Flood</h1><p>first</p></body></html>")
    reading = read(tmp_path / "book.epub")
    assert reading.facts[0] == "title: Tides"
    assert reading.text.index("first") < reading.text.index("second")
    assert [part.place for part in reading.parts] == ["chapter 1 (Flood)", "chapter 2 (Ebb)"]


def test_databases_give_their_tables(read: Any, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ports.db")
    connection.executescript("CREATE TABLE port (name TEXT, ships INT); INSERT INTO port VALUES ('Orm', 3), (NULL, 5)")
    connection.close()
    reading = read(tmp_path / "ports.db")
    assert "CREATE TABLE port" in reading.text and "| Orm | 3 |" in reading.text
    assert reading.parts[0].place == "table port, rows 1 to 2"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1abc.pdb", "HEADER    HYDROLASE\nATOM      1  N   MET A   1      38.428  13.104   6.364\n"),
        ("tide.py", "def tide(hour):\n    return hour % 12\n"),
        ("settings.toml", '[port]\nname = "Orm"\n'),
        ("README", "No ending at all\n"),
        ("talk.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello\n"),
    ],
)
def test_every_text_is_read_as_it_stands(read: Any, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name).text == text.rstrip("\n")


def test_rtf_is_read(read: Any, tmp_path: Path) -> None:
    (tmp_path / "note.rtf").write_bytes(rb"{\rtf1\ansi\ansicpg1252 High tide {\b 14:05} at M\'e1laga.\par}")
    assert "High tide 14:05 at Málaga." in read(tmp_path / "note.rtf").text


def test_a_file_is_read_as_what_it_is_whatever_its_ending_says(read: Any, tmp_path: Path) -> None:
    (tmp_path / "table.xlsx").write_text("port,ships\nOrm,3\n")
    (tmp_path / "page.txt").write_text("<!DOCTYPE html><p>Orm</p>")
    reading = read(tmp_path / "table.xlsx")
    assert "Orm,3" in reading.text
    assert reading.notes == ["its name ends in .xlsx, but it is a file of another kind: text"]
    assert read(tmp_path / "page.txt").text.strip() == "Orm"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.pdf", b"", "is empty (0 bytes)"),
        ("thing.bin", bytes(range(256)) * 4, "binary file of a kind that is not known"),
        ("old.rar", b"Rar!\x1a\x07\x01\x00" + bytes(40), "RAR archive"),
        ("prog", b"\x7fELF\x02\x01\x01" + bytes(90), "is a program"),
    ],
)
def test_what_cannot_be_read_is_said(read: Any, tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CannotRead, match=r".*") as caught:
        read(tmp_path / name)
    assert words in caught.value.message


def test_a_cell_of_nothing_is_empty() -> None:
    assert cell(None) == ""
