"""How alike two texts are without an embedding model."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.models.likeness import DIMENSIONS, likeness_vector


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(one * other for one, other in zip(left, right, strict=True))


@given(st.text(max_size=300))
def test_a_text_is_like_itself_whatever_its_case_and_spaces(text: str) -> None:
    vector = likeness_vector(text)
    assert len(vector) == DIMENSIONS and all(number >= 0 for number in vector)
    length = math.hypot(*vector)
    assert length == pytest.approx(1) if text.strip() else length in (0, pytest.approx(1))
    assert likeness_vector(f"  {text}\n") == vector


def test_nearer_wordings_are_more_alike() -> None:
    lake, same, other = map(
        likeness_vector, ("The lake is 61 metres deep", "the lake is about 61 metres deep", "Nothing was found out")
    )
    assert cosine(lake, same) > 0.7 > 0.3 > cosine(lake, other)


def test_vectors_are_the_same_in_every_process() -> None:
    code = "from kgot_core.models.likeness import likeness_vector as v; print(hash(v('Der See ist 61 m tief')))"
    outputs = set()
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))}
        outputs.add(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout)
    assert outputs == {f"{hash(likeness_vector('Der See ist 61 m tief'))}\n"}
