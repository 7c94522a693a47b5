"""The tools keep the contract of all tools."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.testing.tool_suite import ToolSuite
from kgot_tools_web.plugin import kgot_tools
from kgot_tools_web.settings import WebSettings

PROVIDERS = {provider.name: provider for provider in kgot_tools()}
PAGES = Path(__file__).parent / "data" / "pages.jsonl"
OFFLINE = WebSettings(pages=str(PAGES), wikipedia_url="http://10.0.0.1:1/w/api.php", serpapi_key="x", browser="never")
BLOCKED = "http://169.254.169.254/latest/"


class TestSearchWeb(ToolSuite):
    provider = PROVIDERS["search_web"]
    settings = OFFLINE
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"search_web": {"query": "Maiden Japan"}}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"search_web": {"query": "x", "since": "lately"}}


class TestVisitPage(ToolSuite):
    provider = PROVIDERS["visit_page"]
    settings = OFFLINE
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"visit_page": {"url": "pages:p00676"}}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"visit_page": {"url": BLOCKED}}


class TestBrowseWeb(ToolSuite):
    provider = PROVIDERS["browse_web"]
    settings = OFFLINE
    reply = '{"name": "final_answer", "arguments": {"answer": "1952"}}'


class _OnLoopback(ToolSuite):
    """A suite whose tool reaches the loopback web."""

    @pytest.fixture
    def current_settings(self, web: Any, settings: dict[str, Any]) -> Any:
        """Gives settings that open the loopback web."""
        return WebSettings(**settings)


class TestWikipedia(_OnLoopback):
    provider = PROVIDERS["wikipedia"]
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"wikipedia": {"title": "Orm", "question": "How many ships?"}}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"wikipedia": {"title": "Orm", "language": "no such"}}


class TestYouTubeTranscript(_OnLoopback):
    provider = PROVIDERS["youtube_transcript"]
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"youtube_transcript": {"video": "https://example.org/"}}

    @pytest.fixture(autouse=True)
    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Gives a transcript without YouTube; its own tests run the library against a stand-in."""
        from kgot_tools_web.tools import youtube_transcript
        from kgot_tools_web.youtube import Stretch, Transcript

        told = Transcript("English (en)", False, [Stretch(0.0, "Good evening.")])
        monkeypatch.setattr(youtube_transcript, "transcript", lambda *arguments: told)


def test_an_installed_package_is_tried_on_a_web_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kgot_core", "plugins", "check", "kgot-tools-web"]
    cache = tmp_path / "cache"
    environment = {**os.environ, "CI": "", "KGOT_CACHE_DIR": str(cache)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and " passed" in done.stdout and "failed" not in done.stdout, done.stdout
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert skipped and all("reaches www.youtube.com alone" in line for line in skipped)
    assert not [file for file in cache.rglob("*") if file.is_file()], "nothing of it is kept"
