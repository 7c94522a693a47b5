"""The entry point: tools that read files."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import Problem, ToolProvider, later
from kgot_tools_media.settings import ArchiveSettings, ImageSettings, ReadingSettings, SearchSettings, SpeechSettings

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from kgot_core.contracts.tools import ToolContext

_READERS = ("bs4", "lxml", "mammoth", "markdownify", "odfdo", "olefile", "openpyxl", "pdfplumber", "pptx", "pypdfium2")
_TRIAL = "kgot_tools_media.trial:trial"


def check(settings: object) -> Problem | None:
    """Tells whether what reads documents is installed."""
    missing = [name for name in _READERS if importlib.util.find_spec(name) is None]
    if missing:
        return Problem(f"not installed: {', '.join(missing)}", "pip install --force-reinstall kgot-tools-media")
    return None


def _inspect_file(settings: ReadingSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_media.tools.inspect_file import InspectFile

    return [InspectFile(context, settings)]


def _extract_archive(settings: ArchiveSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_media.tools.extract_archive import ExtractArchive

    return [ExtractArchive(context, settings)]


def _inspect_image(settings: ImageSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_media.tools.inspect_image import InspectImage

    return [InspectImage(context, settings)]


def check_speech(settings: SpeechSettings) -> Problem | None:
    """Tells whether there is anything that can transcribe."""
    if settings.base_url or importlib.util.find_spec("faster_whisper") is not None:
        return None
    return Problem(
        "no speech model is installed and no transcription server is set",
        "pip install 'kgot-tools-media[speech]', or set tools.transcribe_audio.base_url and api_key",
    )


def _transcribe_audio(settings: SpeechSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_media.tools.transcribe_audio import TranscribeAudio

    return [TranscribeAudio(context, settings)]


def _search_files(settings: SearchSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_media.tools.search_files import SearchFiles

    # With one file or none there is nothing to choose from, and a tool more only misleads a small model.
    if not context.files.folders and len(context.files.names()) < 2:
        return []
    return [SearchFiles(context, settings)]


@hookimpl
def kgot_tools() -> Iterable[ToolProvider]:
    """The tools."""
    return [
        ToolProvider(
            name="inspect_file",
            summary="Reads documents of every kind as Markdown, or answers a question from them.",
            settings=ReadingSettings,
            check=check,
            create=_inspect_file,
            trial=later(_TRIAL),
            seconds=2_400.0,
        ),
        ToolProvider(
            name="extract_archive",
            summary="Unpacks archives within limits, and shows what small files in them hold.",
            settings=ArchiveSettings,
            check=check,
            create=_extract_archive,
            trial=later(_TRIAL),
            seconds=600.0,
        ),
        ToolProvider(
            name="inspect_image",
            summary="Looks at images with a model that sees, and reads their text by character recognition.",
            settings=ImageSettings,
            check=check,
            create=_inspect_image,
            trial=later(_TRIAL),
            seconds=600.0,
        ),
        ToolProvider(
            name="search_files",
            summary="Searches the folders of documents that the user opened, and several attachments.",
            settings=SearchSettings,
            check=check,
            create=_search_files,
            trial=later(_TRIAL),
            seconds=600.0,
            needs="a folder that is open (--folder) or several attachments",
        ),
        ToolProvider(
            name="transcribe_audio",
            summary="Writes down what is said in sound and video, on this machine or by a transcription server.",
            settings=SpeechSettings,
            check=check_speech,
            create=_transcribe_audio,
            trial=later(_TRIAL),
            seconds=1_800.0,
        ),
    ]
