"""``inspect_file``: what a file says, whole or in answer to a question (paper, B.4: Text Inspector)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_media.answering import MOST_SOURCES, Reading, answer
from kgot_tools_media.documents import Document, Documents
from kgot_tools_media.locating import Located, locate
from kgot_tools_media.markdown import line_parts
from kgot_tools_media.members import unpacked
from kgot_tools_media.process import Limits
from kgot_tools_media.remote import is_address, opened
from kgot_tools_media.settings import ReadingSettings
from kgot_tools_media.tools.base import MediaTool
from kgot_tools_media.windows import Window, natural, window_at, windows

_OTHER_TOOLS: Mapping[str, str] = MappingProxyType(
    {"image": "inspect_image", "sound": "transcribe_audio", "archive": "extract_archive"}
)


class FileArguments(BaseModel):
    """Arguments of ``inspect_file``."""

    path: str = Field(
        description="Name of a file of the task or of one that a tool made, such as report.pdf; of one in an archive:"
        " files.zip/report.pdf; or an address"
    )
    question: str = Field(
        default="",
        description="What you want to know, as a complete question; leave it out to get the content",
    )
    page: int = Field(
        default=1,
        ge=1,
        description="Where to begin in a long file, as an earlier result says",
    )
    password: str = Field(default="", description="Password of a protected file, only if the task tells it")


class InspectFile(MediaTool):
    """Reads documents of every kind; other files go to the tool that is made for them."""

    name: str = "inspect_file"
    description: str = (
        "Reads a file: PDF, Word, PowerPoint, Excel, OpenDocument, CSV, HTML, EPUB, JSON, XML, e-mail, notebook, source"
        " code and any text; also images, sound, video and archives. Without question it gives the content as Markdown,"
        " long files in parts (page=2 reads on). With question a model reads all of it and answers. To count or"
        ' calculate over many rows use run_python_code instead. Example: {"path": "harbours.csv"}'
    )
    args_schema: type[BaseModel] = FileArguments
    _settings: ReadingSettings = PrivateAttr()
    _documents: Documents = PrivateAttr()

    def __init__(self, context: ToolContext, settings: ReadingSettings, **fields: Any) -> None:
        super().__init__(context, **fields)
        self._settings = settings
        self._documents = Documents(Limits(settings.seconds, settings.memory_mb))

    async def _arun(self, path: str, question: str = "", page: int = 1, password: str = "") -> tuple[str, ToolArtifact]:
        if is_address(path):
            return await opened(self._context, path, question.strip())
        located = locate(self._context, await unpacked(self._context, path, password))
        document = await self._documents.read(located, password)
        if document.family != "document":
            return await self._by_other_tool(document, located, question.strip(), password)
        if question.strip():
            return await self._answered(document, question.strip())
        return self._shown(document, page)

    async def _answered(self, document: Document, question: str) -> tuple[str, ToolArtifact]:
        reading = Reading(self._settings.question_tokens, self._settings.question_parts)
        if not document.parts:
            return _with_notes(document, "it holds no text, so nothing can be answered from it"), ToolArtifact()
        text, sources = await answer(self._context, document, question, reading)
        return _with_notes(document, text), ToolArtifact(sources)

    def _shown(self, document: Document, page: int) -> tuple[str, ToolArtifact]:
        budget = self._settings.tokens
        if not document.parts:
            return _with_notes(document, "it holds no text"), ToolArtifact((Source(document.address),))
        own = natural(document.parts, budget)
        every = windows(document.parts, budget)
        count = max(part.last for part in document.parts) if own else len(every)
        if page > count:
            unit = document.parts[0].unit if own else "part"
            raise KgotError(f"{document.address} has {count} {unit}s; page is 1 to {count}")
        window = window_at(document.parts, page, budget) if own else every[page - 1]
        after = window.parts[-1].last + 1 if own else page + 1
        blocks = [f"Shown: {window.place}"] if count > 1 and window.place else []
        blocks += [window.text]
        if after <= count:
            what = f"{document.parts[0].unit}s {after} to {count}" if own else f"parts {after} to {count}"
            blocks += [f'[To read on ({what}): inspect_file with path "{document.address}" and page {after}]']
        sources = _sources(document, window)
        return _with_notes(document, "\n\n".join(blocks)), ToolArtifact(sources)

    async def _by_other_tool(
        self, document: Document, located: Located, question: str, password: str
    ) -> tuple[str, ToolArtifact]:
        name = _OTHER_TOOLS[document.family]
        if name not in self._context.tools:
            raise KgotError(
                f"{document.address} is of the kind {document.kind}: the tool {name} reads these, this run has none",
                hint=f"kgot plugins show {name} says how to get it",
            )
        arguments: dict[str, str] = {"path": located.name}
        if question and document.family == "image":
            arguments["question"] = question
        if password and document.family == "archive":
            arguments["password"] = password
        result = await self._context.call(name, arguments)
        if result.failed:
            raise KgotError(result.text)
        if not question or document.family == "image":
            return result.text, result.artifact
        # What was heard or unpacked is a text now, and is read as one; a long transcript stands in a file.
        text = replace(document, family="document", parts=tuple(line_parts(result.text)))
        if document.family == "sound" and result.artifact.files:
            text = await self._documents.read(locate(self._context, result.artifact.files[0]))
        answered, artifact = await self._answered(text, question)
        return answered, ToolArtifact(artifact.sources, result.artifact.files)


def _with_notes(document: Document, text: str) -> str:
    notes: Sequence[str] = [f"[Note: {note}]" for note in document.notes]
    return "\n\n".join([document.title, *notes, text])


def _sources(document: Document, window: Window) -> tuple[Source, ...]:
    places = window.places or ("",)
    if len(places) > MOST_SOURCES:
        places = (window.place,)
    return tuple(Source(document.address, place=place, sha256=document.sha256) for place in places)
