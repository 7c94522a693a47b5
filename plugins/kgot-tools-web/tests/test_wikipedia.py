"""``wikipedia``: titles, sections, tables, dates, languages; what a title may mean is offered and never guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgot_tools_web.mediawiki import MediaWiki
from kgot_tools_web.session import WebSession
from kgot_tools_web.settings import WebSettings


def test_the_exact_title_is_opened_never_the_suggestion(call: Callable[..., Any]) -> None:
    """Case D37: the suggestion."""
    result = call("wikipedia", title="Marlune")
    assert "61 metres deep" in result.text and "marine" not in result.text.lower()
    assert "61 metres" in call("wikipedia", title="marlune").text
    assert "Marlune Lake leads to Marlune" in call("wikipedia", title="Marlune Lake").text


def test_a_title_with_several_meanings_is_offered(call: Callable[..., Any]) -> None:
    """Case D37: the disambiguation."""
    result = call("wikipedia", title="Kestrel", question="What was its payload?")
    assert not result.failed and "may mean several things" in result.text
    for option in ("Kestrel (bird)", "Kestrel (rocket)", "Kestrel (ship)"):
        assert option in result.text
    assert "41 kg" in call("wikipedia", title="Kestrel (rocket)").text


def test_without_such_an_article_what_is_found_is_offered(call: Callable[..., Any]) -> None:
    result = call("wikipedia", title="album by Iron Maiden in Japan")
    assert (
        not result.failed and "there is no article with the title" in result.text and "- Maiden Japan:" in result.text
    )
    nothing = call("wikipedia", title="zzzz qqqq")
    assert nothing.failed and "finds nothing" in nothing.text


def test_tables_keep_each_cell_in_its_column(call: Callable[..., Any], web: Any) -> None:
    text = call("wikipedia", title="Orm").text
    assert "| Year | Ships | Ships |" in text and "| Year | Sail | Steam |" in text
    assert "| 1952 | 3 | 5 |" in text
    assert f"| 1952 | 4 | [Kestrel]({web.url}/wiki/Kestrel_%28ship%29) |" in text


def test_one_section_with_those_below_it(call: Callable[..., Any]) -> None:
    result = call("wikipedia", title="Orm", section="ships")
    assert "| 1952 | 3 | 5 |" in result.text and "In 1960" in result.text and "Herring" not in result.text
    assert result.artifact.sources[0].place == "section Ships"
    missing = call("wikipedia", title="Orm", section="Climate")
    assert missing.failed and "it has: Ships, Later, Trade" in missing.text


@pytest.mark.parametrize(
    ("date", "words"), [("2016", "700 people"), ("2015-03", "700 people"), ("2012-05-01", "a place"), ("2030", "900")]
)
def test_an_article_as_it_was_at_a_date(call: Callable[..., Any], date: str, words: str) -> None:
    result = call("wikipedia", title="Orm", date=date)
    assert words in result.text and "as it was after the change of 20" in result.text
    assert "oldid=" in result.artifact.sources[0].address


def test_a_date_before_the_article_is_told(call: Callable[..., Any]) -> None:
    result = call("wikipedia", title="Orm", date="2009")
    assert result.failed and "there was no article Orm yet on 2009-12-31" in result.text


def test_a_question_is_answered_from_the_article(run_tool: Callable[..., Any]) -> None:
    ended = run_tool(
        "wikipedia", script=lambda asked: 'Eight. "| 1952 | 3 | 5 |"', title="Orm", question="How many ships?"
    )
    assert "Eight." in ended.result.text and "| 1952 | 3 | 5 |" in ended.requests[0]


def test_a_language_is_a_code_and_nothing_else() -> None:
    wiki = MediaWiki(WebSession(WebSettings()))
    assert wiki.api("de") == "https://de.wikipedia.org/w/api.php"
    assert wiki.address("Zürich Stadt", "de") == "https://de.wikipedia.org/wiki/Z%C3%BCrich_Stadt"


def test_a_wrong_language_is_told(call: Callable[..., Any], web: Any) -> None:
    result = call("wikipedia", title="Orm", language="evil.example/")
    assert result.failed and "no code of a language" in result.text and not web.seen
