"""``youtube_transcript``: what is said in a video, with times."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

from pydantic import BaseModel, Field

from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_web.answering import answer
from kgot_tools_web.net.cache import now
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.reading.windows import windows
from kgot_tools_web.settings import WebSettings
from kgot_tools_web.tools.base import WebTool
from kgot_tools_web.tools.visit_page import shown
from kgot_tools_web.youtube import Transcript, transcript, video_id


class VideoArguments(BaseModel):
    """Arguments of ``youtube_transcript``."""

    video: str = Field(description="Address or id of the video on YouTube, such as https://youtu.be/AbCdEfGhIjK")
    question: str = Field(
        default="", description="What you want to know, as a complete question; leave it out to get the text"
    )
    language: str = Field(default="", description="Code of the language wanted, such as de")
    page: int = Field(default=1, ge=1, description="Part of a long transcript, as an earlier result says")


class YouTubeTranscript(WebTool):
    """Reads the captions of a video."""

    name: str = "youtube_transcript"
    description: str = (
        "Gives what is said in a YouTube video, with times, or answers a question from it. It sees no pictures."
        ' Example: {"video": "https://www.youtube.com/watch?v=AbCdEfGhIjK"}'
    )
    args_schema: type[BaseModel] = VideoArguments

    def __init__(self, context: ToolContext, settings: WebSettings, **fields: Any) -> None:
        super().__init__(context, settings, **fields)

    async def _arun(
        self, video: str, question: str = "", language: str = "", page: int = 1
    ) -> tuple[str, ToolArtifact]:
        identity = video_id(video)
        if not identity:
            raise KgotError(f"{video[:100]!r} is no video on YouTube", hint="visit_page opens other addresses")
        url = f"https://www.youtube.com/watch?v={identity}"
        self._session.guard.check(url)
        languages = [language.strip().lower()] if language.strip() else [self._settings.language, "en"]

        async def make() -> Any:
            return (await asyncio.to_thread(transcript, identity, languages, bool(language.strip()))).to_json()

        found = Transcript.from_json(dict(await self._context.once("transcript", make)))  # type: ignore[arg-type]
        text = "\n".join(f"[{clock(one.start)}] {one.text}" for one in found.stretches)
        digest = hashlib.sha256(text.encode()).hexdigest()
        notes = [f"the transcript is in {found.language}"]
        notes += ["a machine wrote it, which may have misheard"] if found.generated else []
        notes += [f"others: {', '.join(found.others[:20])}"] if found.others else []
        told = Page(url, f"video {identity}", text, now().isoformat(timespec="seconds"), digest, tuple(notes))
        if question.strip():
            said = await answer(self._context, told, question.strip(), self._settings)
            return shown(told, said, tag="answer"), ToolArtifact((told.source(),))
        every = windows(text, self._settings.tokens * 4)
        if page > len(every):
            raise KgotError(f"the transcript has {len(every)} parts; page is 1 to {len(every)}")
        part = f"part {page} of {len(every)}" if len(every) > 1 else ""
        rest = f"\n\n[To read on: youtube_transcript with page {page + 1}]" if page < len(every) else ""
        return shown(told, every[page - 1], part, tag="transcript") + rest, ToolArtifact((_source(told, part),))


def clock(seconds: float) -> str:
    """Writes a time in a video: ``1:05``, ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _source(told: Page, part: str) -> Source:
    return told.source(part or "transcript")
