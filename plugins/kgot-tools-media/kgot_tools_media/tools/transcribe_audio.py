"""``transcribe_audio``: what is said in a sound or video file, with times."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.tools import ToolArtifact, ToolContext
from kgot_tools_media.locating import Located, locate, source
from kgot_tools_media.parts import size
from kgot_tools_media.settings import SpeechSettings
from kgot_tools_media.tools.base import MediaTool
from kgot_tools_media.transcripts import Transcript, local_transcript, read_reply, remote_transcript


class SoundArguments(BaseModel):
    """Arguments of ``transcribe_audio``."""

    path: str = Field(description="Name of a sound or video file among the task's files, such as talk.mp3")


class TranscribeAudio(MediaTool):
    """Writes down what is said."""

    name: str = "transcribe_audio"
    description: str = (
        "Writes down what is said in a sound or video file (mp3, wav, m4a, flac, ogg, mp4), with times and language."
        ' Example: {"path": "talk.mp3"}'
    )
    args_schema: type[BaseModel] = SoundArguments
    _settings: SpeechSettings = PrivateAttr()

    def __init__(self, context: ToolContext, settings: SpeechSettings, **fields: Any) -> None:
        super().__init__(context, **fields)
        self._settings = settings

    async def _arun(self, path: str) -> tuple[str, ToolArtifact]:
        located = locate(self._context, path)
        heard = await self._heard(located)
        facts = ["sound", *([f"{clock(heard.length)} long"] if heard.length else [])]
        facts += [f"language {heard.language}"] if heard.language else []
        head = [f"{located.address}: {', '.join(facts)}", *(f"[Note: {note}]" for note in heard.notes)]
        place = f"0:00 to {clock(heard.length)}" if heard.length else ""
        artifact = ToolArtifact((source(located, place),))
        if not heard.stretches:
            silent = "There is no sound in it at all: it is silent."
            no_speech = "No speech was found in it: it holds music, noises or a voice that cannot be made out."
            return "\n\n".join([*head, silent if heard.silent else no_speech]), artifact
        lines = [f"[{clock(one.start)} to {clock(one.end)}] {one.text}" for one in heard.stretches]
        if size("\n".join(lines)) <= self._settings.tokens:
            return "\n\n".join([*head, "\n".join(lines)]), artifact
        return self._shortened(located, head, lines, artifact)

    async def _heard(self, located: Located) -> Transcript:
        if not self._settings.base_url:
            return await local_transcript(located, self._settings)

        async def ask() -> Any:
            return dict(await remote_transcript(located, self._settings))

        return read_reply(cast(dict[str, Any], await self._context.once("transcription", ask)))

    def _shortened(
        self, located: Located, head: list[str], lines: list[str], artifact: ToolArtifact
    ) -> tuple[str, ToolArtifact]:
        """Keeps a long transcript whole as a file of the run, and shows its beginning."""
        path = self._context.files.folder / f"{Path(located.name).stem}-transcript.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        name = self._context.files.add(path)
        shown, room = list[str](), self._settings.tokens
        for line in lines:
            room -= size(line)
            if room < 0:
                break
            shown.append(line)
        rest = f'[The rest stands in {name}: inspect_file with path "{name}" reads on or answers a question from it]'
        return "\n\n".join([*head, "\n".join(shown), rest]), ToolArtifact(artifact.sources, (name,))


def clock(seconds: float) -> str:
    """Writes a time in a recording: ``1:05``, ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
