"""Transcripts of sound: by a model on this machine, or by a server that speaks OpenAI's protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_media.jobs import done_on
from kgot_tools_media.locating import Located
from kgot_tools_media.process import Limits
from kgot_tools_media.settings import SpeechSettings

_TOO_LARGE, _TOO_MANY, _SERVER = 413, 429, 500


@dataclass(frozen=True)
class Stretch:
    """Something that was said: from when to when, in seconds, and the words."""

    start: float
    end: float
    text: str


@dataclass
class Transcript:
    """What was heard.

    Attributes:
        length: Length of the sound in seconds; 0 where it is not told.
        language: Code of the language, empty where it is not told.
        silent: There is no sound in it.
        stretches: What was said.
        notes: What one has to know.
    """

    length: float = 0.0
    language: str = ""
    silent: bool = False
    stretches: list[Stretch] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def local_transcript(located: Located, settings: SpeechSettings) -> Transcript:
    """Transcribes on this machine with faster-whisper, in a child process.

    Raises:
        FileUnreadable: The file cannot be heard, or the model is not there.
    """
    limits = Limits(settings.seconds, settings.memory_mb)
    job = {
        "do": "listen",
        "model": settings.model,
        "hub": _hub(),
        "language": settings.language,
    }
    messages, early = await done_on(located, job, limits, "transcribe_audio", "start")
    heard = Transcript()
    for message in messages:
        heard.length = message.get("length", heard.length)
        heard.silent = message.get("silent", heard.silent)
        heard.language = message.get("language", heard.language)
        heard.notes += [message["note"]] if "note" in message else []
        if "start" in message:
            heard.stretches.append(Stretch(message["start"], message["end"], message["text"]))
    if early:
        heard.notes.append(f"only the beginning was transcribed: {early}")
    return heard


async def remote_transcript(located: Located, settings: SpeechSettings) -> Mapping[str, Any]:
    """Lets a server transcribe a file, and gives its JSON reply.

    Raises:
        KgotError: The server refuses it.
        TransientToolError: The server cannot be reached or is busy.
    """
    form = {"model": settings.remote_model, "response_format": "verbose_json"}
    form |= {"language": settings.language} if settings.language else {}
    head = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    address = settings.base_url.rstrip("/") + "/audio/transcriptions"
    try:
        async with httpx.AsyncClient(timeout=settings.seconds) as client:
            with located.path.open("rb") as file:
                reply = await client.post(address, data=form, files={"file": (located.name, file)}, headers=head)
    except httpx.HTTPError as error:
        raise TransientToolError(f"the transcription server cannot be reached: {type(error).__name__}") from None
    if reply.status_code == _TOO_MANY or reply.status_code >= _SERVER:
        raise TransientToolError(f"the transcription server answers {reply.status_code}")
    if reply.status_code == _TOO_LARGE:
        raise KgotError(f"{located.address} is too large for the transcription server", hint="cut it into pieces")
    if reply.is_error:
        said = " ".join(reply.text.split())[:200].replace(settings.api_key or "\0", "***")
        raise KgotError(
            f"the transcription server answers {reply.status_code}: {said}",
            hint="tools.transcribe_audio.base_url, api_key and remote_model say where and how it is asked",
        )
    try:
        found = reply.json()
    except ValueError:
        way_out = "is tools.transcribe_audio.base_url right?"
        raise KgotError("the transcription server gives no JSON", hint=way_out) from None
    return found if isinstance(found, dict) else {}


def read_reply(reply: Mapping[str, Any]) -> Transcript:
    """Reads a server's reply; one without times is one stretch."""
    length = float(reply.get("duration") or 0.0)
    segments: Sequence[Mapping[str, Any]] = reply.get("segments") or ()
    stretches = [
        Stretch(float(segment.get("start", 0.0)), float(segment.get("end", 0.0)), str(segment.get("text", "")).strip())
        for segment in segments
    ]
    text = str(reply.get("text") or "").strip()
    if not stretches and text:
        stretches = [Stretch(0.0, length, text)]
    return Transcript(length, str(reply.get("language") or ""), False, [one for one in stretches if one.text])


def _hub() -> str:
    """Gives where models that were fetched lie."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return os.environ.get("HF_HOME") or str(Path(cache, "huggingface"))
