"""``search_files`` with an embedding model: found by meaning too, paid once, and by words where the model fails."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings

from kgot_tools_media.ranking import DEPTH, fused
from kgot_tools_media.vectors import VectorCache

# Words that mean the same have one axis in common.
AXES = (("ship", "vessel", "boat"), ("fee", "dues", "toll"), ("tide", "sea", "water"))


class Concepts(Embeddings):
    """Embeds a text by which of a few things it is about."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        if self.fault is not None:
            raise self.fault
        return [[0.01, *(float(any(word in text.lower() for word in axis)) for axis in AXES)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three documents, and a cache of the test's own."""
    monkeypatch.setenv("KGOT_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "documents"
    root.mkdir()
    (root / "dues.txt").write_text("Harbour dues of 1952: 40 crowns a vessel.\n")
    (root / "tides.txt").write_text("High water at Orm is 14:05, says the boat keeper.\n")
    (root / "words.txt").write_text("A fee is what one pays; nothing more is said of the boat.\n")
    return root


def test_a_passage_is_found_that_shares_no_word_with_the_query(run_in_folder: Callable[..., Any], folder: Path) -> None:
    query = {"query": "toll per ship"}
    assert "<passage" not in run_in_folder("search_files", folder, **query).text
    result = run_in_folder("search_files", folder, embeddings=Concepts(), **query)
    assert result.artifact.sources[0].address == "dues.txt" and "40 crowns" in result.text
    assert "[Note" not in result.text


def test_words_and_meaning_count_together(run_in_folder: Callable[..., Any], folder: Path) -> None:
    # words.txt shares the word and the meaning, dues.txt the meaning alone, tides.txt hardly anything.
    result = run_in_folder("search_files", folder, embeddings=Concepts(), query="fee of a boat")
    assert [source.address for source in result.artifact.sources] == ["words.txt", "dues.txt", "tides.txt"]


def test_what_has_not_changed_is_embedded_once_for_all_runs(run_in_folder: Callable[..., Any], folder: Path) -> None:
    first, second = Concepts(), Concepts()
    whole = run_in_folder("search_files", folder, embeddings=first, query="toll").text
    assert len(first.asked) == 4
    assert sum(path.is_file() for path in (folder.parent / "cache" / "embeddings").rglob("*")) == 3
    assert run_in_folder("search_files", folder, embeddings=second, query="toll").text == whole
    assert second.asked == ["toll"]
    (folder / "tides.txt").write_text("The toll at sea is 3 crowns.\n")
    (folder / "dues.txt").rename(folder / "renamed.txt")
    third = Concepts()
    assert "3 crowns" in run_in_folder("search_files", folder, embeddings=third, query="toll").text
    assert [text.strip() for text in third.asked] == ["toll", "The toll at sea is 3 crowns."]


def test_a_damaged_entry_is_embedded_again(run_in_folder: Callable[..., Any], folder: Path) -> None:
    whole = run_in_folder("search_files", folder, embeddings=Concepts(), query="toll").text
    for number, file in enumerate(path for path in (folder.parent / "cache").rglob("*") if path.is_file()):
        file.write_bytes(bytes(file.stat().st_size) if number else b"short")
    again = Concepts()
    assert run_in_folder("search_files", folder, embeddings=again, query="toll").text == whole
    assert len(again.asked) == 4


def test_a_model_that_fails_leaves_the_words_and_one_note(run_in_folder: Callable[..., Any], folder: Path) -> None:
    away = Concepts(ConnectionError("no route"))
    result = run_in_folder("search_files", folder, embeddings=away, query="harbour dues")
    assert not result.failed and result.artifact.sources[0].address == "dues.txt"
    assert result.text.count("[Note: passages are found by their words only: ") == 1 == result.text.count("[Note")
    assert "no route" in result.text and away.asked == ["harbour dues"]


def test_the_number_of_embedded_passages_is_bounded(run_in_folder: Callable[..., Any], folder: Path) -> None:
    model = Concepts()
    few = run_in_folder("search_files", folder, embeddings=model, settings={"embedded": 1}, query="toll")
    assert len(model.asked) == 2 and few.artifact.sources[0].address == "dues.txt"
    assert "2 passages are found by their words only (tools.search_files.embedded)" in few.text
    none = run_in_folder("search_files", folder, embeddings=model, settings={"embedded": 0}, query="toll")
    assert len(model.asked) == 2 and "<passage" not in none.text and "[Note" not in none.text


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=3))
def test_merged_rankings_keep_what_all_agree_on(rankings: list[list[int]]) -> None:
    merged = fused(*rankings)
    assert sorted(merged) == list(range(6))
    for one in range(6):
        for other in range(6):
            if all(ranking.index(one) < ranking.index(other) for ranking in rankings):
                assert merged.index(one) < merged.index(other)


def test_an_empty_ranking_changes_nothing() -> None:
    assert fused([3, 1, 2], []) == [3, 1, 2] == fused([], [3, 1, 2]) and fused([], []) == []
    assert len(fused(range(2 * DEPTH))) == DEPTH


@given(st.lists(st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3), min_size=1, max_size=4))
def test_vectors_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, vectors: list[list[float]]) -> None:
    cache = VectorCache(tmp_path_factory.getbasetemp() / "vectors", "m")
    texts, kept = [str(vector) for vector in vectors], [array("f", vector) for vector in vectors]
    cache.put(texts, kept)
    assert cache.get(texts, 3) == kept
    assert cache.get(texts, 4) is None and cache.get([*texts, "more"], 3) is None
