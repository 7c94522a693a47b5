"""From HTML to Markdown, and long texts in pieces: nothing is lost."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_tools_web.reading.html import read_html
from kgot_tools_web.reading.windows import windows
from kgot_tools_web.surfer.viewport import pieces, wildcard

URL = "https://a.example/dir/page"
CELL = st.text(st.sampled_from("abcxyz 019|.-"), max_size=8).map(lambda text: " ".join(text.split()))


def cells(line: str) -> list[str]:
    """Reads a row of a Markdown table."""
    return [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", line)[1:-1]]


@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1, max_size=5))
@settings(deadline=None)
def test_every_cell_of_a_table_stays_in_its_column(rows: list[list[str]]) -> None:
    width = max(map(len, rows))
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    text = read_html(f"<p>Before.</p><table>{body}</table><p>After.</p>", URL).text
    lines = [cells(line) for line in text.splitlines() if line.startswith("|")]
    kept = [line for line in lines if not all(re.fullmatch("-+", cell) for cell in line)] if width else []
    wanted = [[*row, *[""] * (width - len(row))] for row in rows]
    found = [line for line in kept if any(line)]
    assert found == [row for row in wanted if any(row) and not all(re.fullmatch("-+", cell) for cell in row)]


def test_cells_that_span_are_repeated() -> None:
    html = (
        "<table><tr><th rowspan=2>Year</th><th colspan=2>Ships</th></tr><tr><th>Sail</th><th>Steam</th></tr>"
        "<tr><td rowspan=3>1952</td><td>3</td><td>5</td></tr><tr><td colspan=2>none</td></tr>"
        "<tr><td>4</td></tr></table>"
    )
    lines = [cells(line) for line in read_html(html, URL).text.splitlines() if line.startswith("|")]
    assert [line for line in lines if "---" not in line] == [
        ["Year", "Ships", "Ships"],
        ["Year", "Sail", "Steam"],
        ["1952", "3", "5"],
        ["1952", "none", "none"],
        ["1952", "4", ""],
    ]


def test_links_are_whole_and_only_those_that_lead_somewhere() -> None:
    html = (
        "<main><a href='../up'>Up</a> <a href='#here'>Here</a> <a href='javascript:x()'>Run</a>"
        " <a href='https://b.example/a_(b)'>B</a> <img src='/ship.png' alt='A ship'><iframe src='/film'></iframe>"
        "</main>"
    )
    text = read_html(html, URL).text
    assert "[Up](https://a.example/up)" in text and "[B](https://b.example/a_%28b%29)" in text
    assert "Here" in text and "#here" not in text and "javascript" not in text
    assert "![A ship](https://a.example/ship.png)" in text and "(https://a.example/film)" in text


def test_the_main_text_is_taken_and_short_frames_are_not() -> None:
    words = "The harbour of Orm is old. " * 20
    main = f"<main><h1>Orm</h1><p>{words}</p></main>"
    html = f"<header>Logo</header><nav>Menu</nav>{main}<aside>Ads</aside><footer>Imprint</footer>"
    text = read_html(html, URL).text
    assert text.startswith("# Orm") and not {"Logo", "Menu", "Ads", "Imprint"} & set(text.split())
    # A main element that holds next to nothing is not all of the page.
    assert "harbour" in read_html(f"<main>Login</main><div><p>{words}</p></div>", URL).text


def test_what_is_hidden_is_left_out() -> None:
    hidden = "".join(
        f"<p {how}>secret order</p>"
        for how in (
            "hidden",
            "style='DISPLAY: none'",
            "style='visibility:hidden'",
            "style='font-size:0'",
            "aria-hidden=true",
        )
    )
    text = read_html(f"<p>High tide 14:05.</p>{hidden}<!-- secret order --><template>secret</template>", URL).text
    assert text == "High tide 14:05."


@given(st.text(st.sampled_from("ab \n.-"), max_size=400), st.integers(20, 120))
def test_windows_lose_nothing(text: str, most: int) -> None:
    found = windows(text, most)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(part) <= most for part in found)


def test_a_table_that_is_cut_repeats_its_first_row() -> None:
    rows = "\n".join(f"| {number} | ship |" for number in range(50))
    found = windows(f"| No | What |\n|---|---|\n{rows}", 200)
    assert len(found) > 3 and all(part.startswith("| No | What |\n|---|---|\n|") for part in found)


@given(st.text(max_size=600), st.integers(10, 200))
def test_pieces_are_the_whole_text(text: str, size: int) -> None:
    found = pieces(text, size)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(end - start <= size for start, end in found)


@given(st.text(max_size=20))
def test_any_pattern_is_an_expression_or_none(pattern: str) -> None:
    expression = wildcard(pattern)
    if expression is not None:
        expression.search(pattern)


def test_wildcards() -> None:
    text = "Population  of\nOrm: 1,952 (2020)"
    for pattern, found in {"POP*of orm": True, "1?952": True, "orm*2020": True, "of*2020": False, "(20": True}.items():
        expression = wildcard(pattern)
        assert expression is not None and bool(expression.search(text)) is found, pattern
    assert wildcard(" ** ") is None and wildcard("?") is None
