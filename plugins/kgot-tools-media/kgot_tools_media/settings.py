"""Settings of the tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _setting(default: Any, help: str, **marks: Any) -> Any:
    return field(default=default, metadata={"help": help, **marks})


@dataclass(frozen=True)
class ReadingSettings:
    """``tools.inspect_file.*``."""

    tokens: int = _setting(6_000, "Tokens of content that one call gives at most", minimum=200)
    question_tokens: int = _setting(8_000, "Tokens that the model reads at once to answer a question", minimum=200)
    question_parts: int = _setting(
        12, "Parts of a long file that are read for a question; of more, those that share most words with it", minimum=1
    )
    seconds: float = _setting(120.0, "How long reading one file may take, in seconds", above=0)
    memory_mb: int = _setting(2_048, "Memory of the process that reads a file, in MiB", minimum=64)


@dataclass(frozen=True)
class SearchSettings:
    """``tools.search_files.*``."""

    files: int = _setting(2_000, "Files that are searched at most", minimum=1)
    tokens: int = _setting(3_000, "Tokens of passages that one search gives", minimum=200)
    embedded: int = _setting(
        2_000, "Passages that are embedded at most, where models.embedding is set; 0 searches by words alone", minimum=0
    )
    seconds: float = _setting(300.0, "How long reading all files may take, in seconds", above=0)
    memory_mb: int = _setting(1_024, "Memory of the process that reads them, in MiB", minimum=64)


@dataclass(frozen=True)
class ArchiveSettings:
    """``tools.extract_archive.*``."""

    total_mb: int = _setting(256, "What one archive may unpack to in all, in MiB", minimum=1)
    files: int = _setting(1_000, "Files that are unpacked at most", minimum=1)
    ratio: int = _setting(200, "How many times its packed size a file above 8 MiB may be", minimum=1)
    depth: int = _setting(3, "How deep archives within archives are unpacked", minimum=1)
    shown_tokens: int = _setting(3_000, "Tokens of the files' contents that are shown at once", minimum=0)
    seconds: float = _setting(120.0, "How long unpacking may take, in seconds", above=0)
    memory_mb: int = _setting(512, "Memory of the process that unpacks, in MiB", minimum=64)


@dataclass(frozen=True)
class ImageSettings:
    """``tools.inspect_image.*``."""

    use_model: bool = _setting(True, "Ask the model of the role vision; off where no model sees")
    ocr: bool = _setting(True, "Read the text of images by character recognition too, where the extra ocr is installed")
    side: int = _setting(1_568, "Longest side of an image that the model gets, in pixels", minimum=64)
    frames: int = _setting(6, "Frames of a moving image that are looked at", minimum=1)
    seconds: float = _setting(120.0, "How long making one image ready may take, in seconds", above=0)
    memory_mb: int = _setting(2_048, "Memory of the process that opens it, in MiB", minimum=64)


@dataclass(frozen=True)
class SpeechSettings:
    """``tools.transcribe_audio.*``."""

    model: str = _setting(
        "base", "Speech model on this machine: tiny, base, small, ... or a folder; extra speech", trusted=True
    )
    language: str = _setting("", "Code of the language that is spoken, found by itself where empty")
    base_url: str = _setting("", "Server that transcribes instead, such as https://api.openai.com/v1", trusted=True)
    api_key: str = _setting("", "Key of that server", secret=True, trusted=True)
    remote_model: str = _setting("whisper-1", "Model that the server is asked for")
    tokens: int = _setting(6_000, "Tokens of a transcript that are shown at once", minimum=200)
    seconds: float = _setting(1_500.0, "How long one transcription may take, in seconds", above=0)
    memory_mb: int = _setting(4_096, "Memory of the process that listens, in MiB", minimum=256)
