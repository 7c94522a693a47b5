"""``youtube_transcript``: the library itself, against a stand-in for YouTube on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from requests.adapters import HTTPAdapter

from kgot_core.errors import KgotError
from kgot_tools_media.plugin import kgot_tools as media_tools
from kgot_tools_web import youtube
from kgot_tools_web.youtube import video_id

ID = "AbCdEfGhIjK"
CAPTIONS = """<?xml version="1.0"?><transcript><text start="0.5" dur="2">Good evening.</text>
<text start="3" dur="2">The train leaves</text>
<text start="65" dur="3">at 14:05 &amp;amp; no later.</text></transcript>"""


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (f"https://youtu.be/{ID}?si=zz&t=10", ID),
        (f"https://www.youtube.com/watch?list=PL1&v={ID}", ID),
        (f"https://www.youtube.com/shorts/{ID}", ID),
        (f"youtube.com/embed/{ID}", ID),
        (f"https://m.youtube.com/live/{ID}?x=1", ID),
        (ID, ID),
        (f"https://example.org/watch?v={ID}", ""),
        (f"https://youtube.com.example.org/watch?v={ID}", ""),
        ("https://www.youtube.com/@channel", ""),
        ("http://[", ""),
    ],
)
def test_the_id_is_found_in_every_form(said: str, found: str) -> None:
    """Case D33: addresses."""
    assert video_id(said) == found


@pytest.fixture
def video(web: Any, web_kit: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what the stand-in says of the video: ``video(tracks={"en": "Manual"}, status=...)``."""

    class ToLoopback(HTTPAdapter):
        def send(self, request: Any, *arguments: Any, **named: Any) -> Any:
            parts = urlsplit(request.url)
            request.url = f"{web.url}{parts.path}?{parts.query}"
            return super().send(request, *arguments, **named)

    real = youtube.new_session

    def redirected() -> Any:
        session = real()
        session.mount("https://www.youtube.com", ToLoopback())
        return session

    monkeypatch.setattr(youtube, "new_session", redirected)
    web.paths["/watch"] = web_kit.Answer(b'<script>"INNERTUBE_API_KEY": "key"</script>')
    web.paths["/timedtext"] = web_kit.Answer(CAPTIONS.encode(), "text/xml")

    def say(tracks: Mapping[str, bool] | None = None, **status: Any) -> None:
        listed = [
            {
                "baseUrl": "https://www.youtube.com/timedtext?x=1",
                "name": {"runs": [{"text": code.upper()}]},
                "languageCode": code,
                **({"kind": "asr"} if generated else {}),
            }
            for code, generated in (tracks or {}).items()
        ]
        captions = {"captions": {"playerCaptionsTracklistRenderer": {"captionTracks": listed}}} if listed else {}
        data = {"playabilityStatus": {"status": "OK", **status}, **captions}
        web.paths["/youtubei/v1/player"] = web_kit.Answer(json.dumps(data).encode(), "application/json")

    return say


def test_what_is_said_comes_with_times(call: Callable[..., Any], video: Callable[..., None], web: Any) -> None:
    video({"de": False, "en": True})
    result = call("youtube_transcript", video=f"https://youtu.be/{ID}")
    assert "[0:00] Good evening. The train leaves\n[1:05] at 14:05 & no later." in result.text
    assert "EN (en)" in result.text and "a machine wrote it" in result.text and "others: DE (de)" in result.text
    assert result.artifact.sources[0].address == f"https://www.youtube.com/watch?v={ID}"
    assert "DE (de)" in call("youtube_transcript", video=ID, language="de").text


def test_a_question_is_answered_from_it(run_tool: Callable[..., Any], video: Callable[..., None]) -> None:
    video({"en": False})
    ended = run_tool("youtube_transcript", script=lambda asked: "At 14:05.", video=ID, question="When does it leave?")
    assert "At 14:05." in ended.result.text and "[1:05] at 14:05" in ended.requests[0]


def test_a_video_is_inspected_by_its_address(run_tool: Callable[..., Any], video: Callable[..., None]) -> None:
    video({"en": False})
    beside = tuple(provider for provider in media_tools() if provider.name == "inspect_file")
    ended = run_tool("inspect_file", beside=beside, path=f"https://youtu.be/{ID}?t=3")
    assert "[1:05] at 14:05" in ended.result.text


def test_each_failure_has_its_own_words(call: Callable[..., Any], video: Callable[..., None], web: Any) -> None:
    """Case D33: failures."""
    told = []
    for given in (
        {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm you’re not a bot"},
        {},
        {"status": "ERROR", "reason": "This video is unavailable"},
        {"status": "UNPLAYABLE", "reason": "Not in your country"},
    ):
        video(**given)
        result = call("youtube_transcript", video=ID)
        assert result.failed and "\n" not in result.text and "Traceback" not in result.text
        told.append(result.text)
    for text, words in zip(
        told, ("blocks this machine", "captions are off", "no video", "Not in your country"), strict=True
    ):
        assert words in text
    assert web.seen["/watch"] == 4, "no failure is tried again"
    video({"de": False, "fr": True})
    missing = call("youtube_transcript", video=ID, language="it")
    assert missing.failed and "no transcript in it; there are: DE (de), FR (fr)" in missing.text
    other = call("youtube_transcript", video=f"https://example.org/watch?v={ID}")
    assert other.failed and "is no video on YouTube" in other.text


def test_its_session_reaches_youtube_alone(web: Any) -> None:
    session = youtube.new_session()
    with pytest.raises(KgotError, match="not followed"):
        session.get(f"{web.url}/wiki/Alps")
    assert not web.seen and isinstance(session, requests.Session) and not session.trust_env


def test_youtube_can_be_blocked(call: Callable[..., Any], video: Callable[..., None], web: Any) -> None:
    video({"en": False})
    result = call("youtube_transcript", more={"block_hosts": ("youtube.com",)}, video=ID)
    assert result.failed and "block_hosts" in result.text and not web.seen
