"""Which candidate a judge's reply names."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.errors import Unreadable
from kgot_core.reading.chosen import read_chosen


@pytest.mark.parametrize(
    "text",
    [
        "CHOICE: 2",
        "Candidate 1 is wrong, 3 too.\nCHOICE: 2",
        "**CHOICE:** 2",
        "CHOICE: **2**",
        "- Choice: candidate 2.",
        "`CHOICE: 2`",
        "CHOICE: 1\nNo, that is wrong.\nCHOICE: 2",
        "<think>CHOICE: 1?</think>\nCHOICE: 2",
        "Choice 2",
        '{"choice": 2}',
        "```\nCHOICE: 2\n```",
        "CHOICE: #2 (the river)",
        "2",
        "Candidate 2.",
        "**2**",
    ],
)
def test_a_verdict_is_read(text: str) -> None:
    assert read_chosen(text, 3) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot say.",
        "CHOICE:",
        "CHOICE: the second",
        "CHOICE: 1 or 2",
        "CHOICE: 4",
        "CHOICE: 0",
        "CHOICE: -1",
        "CHOICE: 1.5",
        "Candidate 2 is right, because 1 is wrong.",
        "The choice is 2 or 3",
        "<think>CHOICE: 2",
    ],
)
def test_no_verdict_is_none(text: str) -> None:
    with pytest.raises(Unreadable):
        read_chosen(text, 3)


@given(st.text(max_size=80), st.integers(1, 12), st.integers(1, 12))
def test_a_last_line_counts_whatever_stands_above_it(before: str, number: int, most: int) -> None:
    text = f"{before.replace('<', '')}\nCHOICE: {number}"
    if number <= most:
        assert read_chosen(text, most) == number
    else:
        with pytest.raises(Unreadable):
            read_chosen(text, most)


@given(st.text(max_size=200), st.integers(1, 9))
def test_any_text_gives_a_candidate_or_is_unreadable(text: str, most: int) -> None:
    with contextlib.suppress(Unreadable):
        assert 1 <= read_chosen(text, most) <= most
