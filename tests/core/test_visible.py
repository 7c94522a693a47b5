"""Text of models and pages cannot steer a terminal: on its way to one, control characters are written out."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.dialect import quote
from kgot_core.graph.visible import visible

CONTROLS = st.text(st.characters(categories=["Cc", "Cf", "L"]))


@given(st.text(st.characters(exclude_categories=("Cs",))) | CONTROLS)
def test_no_control_character_is_left_and_json_stays_json(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(mark) == "Cc" and mark not in "\n\t" for mark in shown)
    assert not set(shown) & set("\u202e\u2066\u202d")
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


@given(st.text(st.characters(exclude_categories=("Cs",))) | CONTROLS)
def test_a_quoted_text_is_one_line_and_reads_back(text: str) -> None:
    shown = quote(text)
    assert "\n" not in shown and "\x1b" not in shown
    assert json.loads(shown) == text


def test_plain_text_stays_as_it_is() -> None:
    text = "Zürich, 東京, 👩‍🔬 and a line\nwith\ta tab"
    assert visible(text) == text


def test_a_run_shows_what_a_model_wrote_without_its_escapes(tmp_path: Any) -> None:
    """The whole program: an answer, a tool's result and a notice with the escapes of a terminal in them."""
    import os
    import subprocess
    import sys

    from kgot_core.testing.openai_server import OpenAIServer

    def script(payload: dict[str, Any], index: int) -> str:
        text = payload["messages"][-1]["content"]
        if "You give the final answer" in text:
            return "VALUE: 61\nIt is \x1b]0;owned\x0761 metres\x9b31m deep."
        if "You check whether" in text:
            return "NO"
        if "Can the task be answered" in text:
            return "SOLVE\nThe depth \x1b[2J is there.\n```python\nresult = ['6\\x1b[1m1']\n```"
        return "61"

    with OpenAIServer(script) as server:
        command = [sys.executable, "-m", "kgot_core", "run", "How deep is it?", "--model", "openai:scripted"]
        command += ["--backend", "networkx", "--set", f"models.graph.base_url={server.url}", "--out", str(tmp_path)]
        env = {name: text for name, text in os.environ.items() if not name.startswith(("KGOT_", "OPENAI_"))}
        done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert b"61 metres" in done.stdout and b"vote: solve" in done.stderr
    for sent in (done.stdout, done.stderr):
        assert not {0x1B, 0x07} & set(sent) and "\x9b" not in sent.decode()
