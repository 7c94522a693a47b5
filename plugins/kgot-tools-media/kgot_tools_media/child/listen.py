"""Writes down what is said in a sound or video file, in the child process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgot_tools_media.kinds import recognise
from kgot_tools_media.parts import CannotRead

_RATE = 16_000
_SILENT = 0.001


def run(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Gives length and language, then each stretch of speech with its times in seconds.

    Args:
        job: ``path``, ``model`` (name or folder), ``hub`` (where models that were fetched lie), ``language`` or empty.
    """
    path = Path(job["path"])
    found = recognise(path)
    if found.kind.family != "sound":
        raise CannotRead(f"is neither sound nor video but of the kind {found.kind.title}", "read it with inspect_file")
    if found.note:
        yield {"note": found.note}
    sound = _decoded(path)
    length, loudest = len(sound) / _RATE, float(abs(sound).max()) if len(sound) else 0.0
    yield {"length": length, "silent": loudest < _SILENT}
    if loudest < _SILENT:
        return
    segments, info = _model(job["model"], job["hub"]).transcribe(
        sound, language=job["language"] or None, vad_filter=True, condition_on_previous_text=False
    )
    yield {"language": info.language, "sure": round(float(info.language_probability), 2)}
    for segment in segments:
        yield {"start": float(segment.start), "end": float(segment.end), "text": segment.text.strip()}


def _decoded(path: Path) -> Any:
    from av.error import FFmpegError
    from faster_whisper import decode_audio

    try:
        return decode_audio(str(path), sampling_rate=_RATE)
    except IndexError:
        raise CannotRead("has no sound", "no tool here looks at the pictures of a video") from None
    except (FFmpegError, ValueError, OSError) as error:
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None


def _model(name: str, hub: str) -> Any:
    os.environ["HF_HOME"], os.environ["HF_HUB_OFFLINE"] = hub, "1"
    from faster_whisper import WhisperModel

    try:
        return WhisperModel(name, device="auto", compute_type="int8", local_files_only=True)
    except (OSError, ValueError, RuntimeError) as error:
        fetch = f"""python -c "from faster_whisper import download_model; download_model('{name}')" fetches it once"""
        if Path(name).is_dir():
            raise CannotRead(f"cannot be heard: the model {Path(name).name} cannot be loaded: {error}") from None
        raise CannotRead(f"cannot be heard: the speech model {name} is not on this machine", fetch) from None
