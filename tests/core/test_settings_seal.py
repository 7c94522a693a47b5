"""The seal by which a user's own runs are known."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.settings.seal import KEY_NAME, is_sealed, seal

plans = st.dictionaries(st.text(max_size=6), st.one_of(st.integers(), st.text(max_size=6), st.none()), max_size=4)


@given(plan=plans, other=plans)
def test_a_seal_holds_for_its_plan_alone(tmp_path_factory: pytest.TempPathFactory, plan: Any, other: Any) -> None:
    folder = tmp_path_factory.getbasetemp() / "config"
    made = seal(folder, plan)
    assert is_sealed(folder, plan, made)
    assert is_sealed(folder, other, made) == (plan == other)


def test_another_users_seal_and_none_at_all_hold_for_nothing(tmp_path: Path) -> None:
    made = seal(tmp_path / "one", {"a": 1})
    seal(tmp_path / "two", {"a": 1})
    assert not is_sealed(tmp_path / "two", {"a": 1}, made)
    assert not is_sealed(tmp_path / "three", {"a": 1}, made) and not (tmp_path / "three").exists()
    assert not is_sealed(tmp_path / "one", {"a": 1}, "")


def test_the_key_is_the_users_alone_and_made_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        seals = set(pool.map(lambda _: seal(tmp_path, {"a": 1}), range(16)))
    assert len(seals) == 1 and [path.name for path in tmp_path.iterdir()] == [KEY_NAME]
    assert stat.S_IMODE((tmp_path / KEY_NAME).stat().st_mode) == 0o600


def test_where_no_key_can_be_kept_there_is_no_seal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert seal(tmp_path / "file" / "config", {"a": 1}) == ""
