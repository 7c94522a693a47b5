"""Which values stand in a source's text, however they are written there."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.graph.elements import Node
from kgot_core.graph.grounding import SourceText, unsupported
from kgot_core.graph.values import Iri, LangText

PAGE = """Lake Veder (also: Véderné) is 61,5 metres deep and 1,234 m long; it was first sounded on 5 May 1912.
Its area is 12 500 hectares. The river Ulmet, "the quiet one", leaves it at Quay Nimmel. Salinity: -3.2 per mille"""


@pytest.mark.parametrize(
    "value",
    [
        *("Lake Veder", "lake  VEDER", "Vederne", "the quiet one", "Quay-Nimmel", "", LangText("Ulmet", "en")),
        *(61.5, 1234, 12500, 1912, 5, -3.2, 3.2, "1912", "sounded 5 May 1912", Iri("https://example.org/x"), True),
        *(datetime.date(1912, 5, 5), datetime.datetime(1912, 5, 5, 12)),
        "The quiet river Ulmet leaves the lake at Quay Nimmel",
    ],
)
def test_what_stands_there_is_found(value: Any) -> None:
    assert SourceText(PAGE).holds(value)


@pytest.mark.parametrize("value", ["Lake Orm", 62, 61.4, 13500, "deepest in Europe", "Nimm", datetime.date(1913, 5, 5)])
def test_what_does_not_stand_there_is_not_found(value: Any) -> None:
    assert not SourceText(PAGE).holds(value)


def test_an_element_names_the_properties_that_are_not_in_its_source() -> None:
    node = Node(
        "n", ("Lake",), {"name": "Lake Veder", "depth_m": 61.5, "country": "Norland", "parts": ("Ulmet", "Orm")}
    )
    assert unsupported(node, SourceText(PAGE)) == ("country", "parts")


@given(st.text(max_size=40), st.text(max_size=60), st.text(max_size=60))
def test_a_text_that_stands_there_word_for_word_is_always_found(said: str, before: str, after: str) -> None:
    assert SourceText(f"{before} {said} {after}").holds(said)


@given(st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6).map(lambda number: round(number, 3))))
def test_a_number_is_found_with_and_without_separators(number: float) -> None:
    assert SourceText(f"It is {number} in all.").holds(number)
    assert SourceText(f"It is {number:,} in all.").holds(number)


@given(st.text(max_size=300))
def test_any_text_can_be_a_source(text: str) -> None:
    SourceText(text).holds(12)
    SourceText(text).holds("anything here")
