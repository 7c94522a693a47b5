"""Lists in which a model names numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.reading.numbered import read_numbered


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("2: it is said nowhere", {2: "it is said nowhere"}),
        ("- **3**: invented\n1. not needed", {3: "invented", 1: "not needed"}),
        ("[1] - twice\nStatement 2: wrong year", {1: "twice", 2: "wrong year"}),
        ("1, 3 and 2: about another lake", dict.fromkeys((1, 3, 2), "about another lake")),
        ("<think>1: maybe</think>\n2", {2: ""}),
        ("NONE", {}),
        ("Statements 1 and 2 are fine.", {}),
        ("3 of the statements are supported", {}),
        ("9: there is no such line\n0: nor this", {}),
        ("1: first word counts\n1: second", {1: "first word counts"}),
        ("2023 was a good year: yes", {}),
    ],
)
def test_lines_that_begin_with_a_number_name_it(reply: str, found: dict[int, str]) -> None:
    assert read_numbered(reply, 3) == found


@given(st.dictionaries(st.integers(1, 20), st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,3}", fullmatch=True)))
def test_what_is_written_is_read(said: dict[int, str]) -> None:
    assert read_numbered("\n".join(f"{number}: {reason}" for number, reason in said.items()), 20) == said


@given(st.text(max_size=200), st.integers(0, 5))
def test_any_reply_can_be_read(text: str, count: int) -> None:
    assert all(1 <= number <= count for number in read_numbered(text, count))
