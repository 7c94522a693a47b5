"""Transcripts of videos on YouTube, through ``youtube-transcript-api`` (extra ``youtube``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kgot_core.errors import KgotError, TransientToolError

_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_PATHS = ("shorts", "embed", "live", "v", "e")
_STRETCH = 20.0
"""Seconds of speech that are put on one line."""


@dataclass(frozen=True)
class Stretch:
    """What is said from a time on, in seconds."""

    start: float
    text: str


@dataclass(frozen=True)
class Transcript:
    """What is said in a video.

    Attributes:
        language: Its language in words.
        generated: It was written by a machine, which may have misheard.
        stretches: What is said, in order.
        others: Other languages that there are.
    """

    language: str
    generated: bool
    stretches: Sequence[Stretch]
    others: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """Gives it as it is recorded."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Transcript:
        """Reads it from a record."""
        return cls(**{**data, "stretches": [Stretch(**item) for item in data["stretches"]]})


def video_id(said: str) -> str:
    """Reads the id of a video from its address in any form, or from the id itself; empty where it is neither."""
    said = said.strip().strip("<>\"'")
    if _ID.fullmatch(said):
        return said
    try:
        parts = urlsplit(said if "://" in said else f"https://{said}")
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.").removeprefix("music.")
    except ValueError:
        return ""
    steps = [step for step in parts.path.split("/") if step]
    found = ""
    if host == "youtu.be":
        found = steps[0] if steps else ""
    elif host in ("youtube.com", "youtube-nocookie.com"):
        named = len(steps) > 1 and steps[0] in _PATHS
        found = steps[1] if named else parse_qs(parts.query).get("v", [""])[0]
    return found if _ID.fullmatch(found) else ""


def new_session() -> Any:
    """Makes a session that reaches YouTube alone, without proxies, passwords or cookies of the user."""
    import requests

    class OnlyYouTube(requests.Session):
        def send(self, request: Any, **options: Any) -> Any:
            host = urlsplit(request.url).hostname or ""
            if host != "youtube.com" and not host.endswith(".youtube.com"):
                raise KgotError(f"YouTube leads to {host}, which is not followed")
            return super().send(request, **{**options, "timeout": options.get("timeout") or 30})

    session = OnlyYouTube()
    session.trust_env = False
    return session


def transcript(video: str, languages: Sequence[str], exact: bool, session: Any = None) -> Transcript:
    """Fetches what is said in a video; runs on a thread.

    Args:
        video: Its id.
        languages: Codes of the languages wanted, best first.
        exact: No other language will do.
        session: What fetches; :func:`new_session` where ``None``.

    Raises:
        TransientToolError: YouTube cannot be reached.
        KgotError: There is none; the message says why.
    """
    import requests
    from youtube_transcript_api import YouTubeTranscriptApi
    from youtube_transcript_api import _errors as errors

    try:
        listed = list(YouTubeTranscriptApi(http_client=session or new_session()).list(video))
        chosen = _chosen(listed, languages, exact)
        fetched = chosen.fetch()
    except (errors.RequestBlocked, errors.PoTokenRequired):
        raise KgotError(
            "YouTube blocks this machine's requests for transcripts, which says nothing about the video",
            hint="try later, or look for the text elsewhere with search_web",
        ) from None
    except errors.TranscriptsDisabled:
        raise KgotError(f"captions are off for the video {video}, so there is no transcript") from None
    except errors.VideoUnavailable:
        raise KgotError(f"there is no video {video}, or it is not available any more") from None
    except errors.AgeRestricted:
        raise KgotError(f"the video {video} is for adults with a login, so its transcript cannot be read") from None
    except errors.VideoUnplayable as error:
        raise KgotError(f"the video {video} cannot be played: {str(error.reason or 'no reason given')[:200]}") from None
    except errors.YouTubeTranscriptApiException as error:
        raise KgotError(f"YouTube gives no transcript of {video}: {type(error).__name__}") from None
    except requests.RequestException as error:
        raise TransientToolError(f"YouTube cannot be reached: {type(error).__name__}") from None
    others = [_named(one) for one in listed if one is not chosen]
    return Transcript(_named(chosen), bool(chosen.is_generated), _stretches(fetched), others)


def _chosen(listed: Sequence[Any], languages: Sequence[str], exact: bool) -> Any:
    """Picks one: the first language there is, written by people before one by a machine."""
    for code in languages:
        fitting = [one for one in listed if one.language_code.partition("-")[0] == code.partition("-")[0]]
        fitting.sort(key=lambda one: (one.language_code != code, one.is_generated))
        if fitting:
            return fitting[0]
    if exact or not listed:
        there = ", ".join(map(_named, listed)) or "none"
        raise KgotError(f"there is no transcript in {', '.join(languages)}; there are: {there}")
    return min(listed, key=lambda one: one.is_generated)


def _named(one: Any) -> str:
    return f"{one.language} ({one.language_code})".replace(" (auto-generated) (", " by a machine (")


def _stretches(fetched: Any) -> list[Stretch]:
    """Puts short captions together to lines of some seconds."""
    found: list[Stretch] = []
    for caption in fetched:
        text = " ".join(str(caption.text).split())
        if not text:
            continue
        if found and caption.start - found[-1].start < _STRETCH:
            found[-1] = Stretch(found[-1].start, f"{found[-1].text} {text}")
        else:
            found.append(Stretch(float(caption.start), text))
    return found
