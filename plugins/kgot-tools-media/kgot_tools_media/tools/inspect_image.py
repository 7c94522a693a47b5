"""``inspect_image``: what is to be seen in an image, by a model that sees and by character recognition (paper, B.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import ToolArtifact, ToolContext
from kgot_core.errors import KgotError, ModelError
from kgot_tools_media.jobs import done_on
from kgot_tools_media.locating import Located, locate, source
from kgot_tools_media.process import Limits
from kgot_tools_media.prompts import fill
from kgot_tools_media.remote import is_address, opened
from kgot_tools_media.settings import ImageSettings
from kgot_tools_media.tools.base import MediaTool

ANYTHING = "What is to be seen here?"
_SECTIONS = ("TEXT", "OBJECTS", "ANSWER")
_HEADING = re.compile(rf"(?m)^[ \t#*_]*({'|'.join(_SECTIONS)})[ \t*_]*:?[ \t*_]*")


class ImageArguments(BaseModel):
    """Arguments of ``inspect_image``."""

    path: str = Field(description="Name of an image among the task's files, such as photo.jpg; or an address")
    question: str = Field(
        default="",
        description="What you want to know, as a complete question; leave it out for all that is in it",
    )
    page: int = Field(default=0, ge=0, description="Page of a PDF or frame of a moving image, from 1; 0 for all of it")


@dataclass
class Seen:
    """What the child process gave.

    Attributes:
        facts: Format, size and the like.
        notes: What one has to know.
        images: Images as ``data:`` URLs.
        places: Which frame or page each is.
        texts: Recognised texts, each with its place before it.
        recognised: Character recognition is installed.
        count: Frames or pages that there are.
    """

    facts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    recognised: bool = False
    count: int = 1

    def take(self, message: Mapping[str, Any]) -> None:
        """Takes one message."""
        self.facts += message.get("facts", [])
        self.count = message.get("count", self.count)
        self.notes += [message["note"]] if "note" in message else []
        self.recognised = message.get("eyes", self.recognised)
        if "image" in message:
            self.images.append(message["image"])
            self.places.append(message["place"])
        if message.get("text"):
            self.texts.append("\n".join(filter(None, [message["place"], message["text"]])))


class InspectImage(MediaTool):
    """Looks at images; where no model sees, their text is read by character recognition."""

    name: str = "inspect_image"
    description: str = (
        "Looks at an image (PNG, JPEG, GIF, WebP, BMP, TIFF, HEIC, SVG) or at a page of a PDF: photos, screenshots,"
        " charts, maps, boards, scanned text. A model answers the question in sections: text, objects, answer."
        ' Example: {"path": "photo.jpg", "question": "How many boats are on the water?"}'
    )
    args_schema: type[BaseModel] = ImageArguments
    _settings: ImageSettings = PrivateAttr()

    def __init__(self, context: ToolContext, settings: ImageSettings, **fields: Any) -> None:
        super().__init__(context, **fields)
        self._settings = settings

    async def _arun(self, path: str, question: str = "", page: int = 0) -> tuple[str, ToolArtifact]:
        if is_address(path):
            return await opened(self._context, path, question.strip() or ANYTHING)
        located = locate(self._context, path)
        seen = await self._seen(located, page)
        blocks = [f"{located.address}: {', '.join(seen.facts)}", *(f"[Note: {note}]" for note in seen.notes)]
        if len(seen.images) < seen.count and page == 0:
            blocks.append(f"[Note: of {seen.count} frames these were looked at: {', '.join(seen.places)}]")
        answered, refused = await self._answer(located, seen, question.strip() or ANYTHING)
        blocks += answered
        if refused:
            if not seen.texts:
                raise KgotError(f"{located.address} cannot be looked at: {refused}", hint=_way_out(seen))
            blocks.append(f"[Note: no model looked at it ({refused}); {_way_out(seen)}]")
        if seen.texts:
            blocks.append("Text by character recognition, which may misread:\n" + "\n".join(seen.texts))
        place = seen.places[0] if len(seen.places) == 1 else ""
        return "\n\n".join(blocks), ToolArtifact((source(located, place),))

    async def _answer(self, located: Located, seen: Seen, question: str) -> tuple[list[str], str]:
        """Asks the model that sees; gives its sections, or why it could not be asked."""
        if not self._settings.use_model:
            return [], "tools.inspect_image.use_model is off"
        what = "an image" if len(seen.images) == 1 else f"{len(seen.images)} frames of an image, in their order"
        recognised = tagged("text_by_character_recognition", "\n".join(seen.texts)) if seen.texts else ""
        prompt = fill("look", what=f"{what}, {located.address}", recognised=recognised, question=question)
        try:
            reply = await self._context.answer(prompt, role="vision", images=seen.images)
        except ModelError as error:
            return [], error.message
        return sections(reply), ""

    async def _seen(self, located: Located, page: int) -> Seen:
        settings = self._settings
        limits = Limits(settings.seconds, settings.memory_mb)
        job = {
            "do": "look",
            "page": page,
            "frames": settings.frames,
            "side": settings.side,
            "ocr": settings.ocr,
        }
        messages, early = await done_on(located, job, limits, "inspect_image", "image")
        seen = Seen()
        for message in messages:
            seen.take(message)
        if early:
            seen.notes.append(f"its text was not recognised: {early}")
        return seen


def sections(reply: str) -> list[str]:
    """Takes a reply apart into its labelled sections; one without labels is the answer."""
    found = list(_HEADING.finditer(reply))
    if not found:
        return [f"Answer:\n{reply.strip()}"]
    ends = [*(heading.start() for heading in found[1:]), len(reply)]
    parts = {heading.group(1): reply[heading.end() : end].strip() for heading, end in zip(found, ends, strict=True)}
    return [f"{name.capitalize()}:\n{parts[name]}" for name in _SECTIONS if parts.get(name)]


def _way_out(seen: Seen) -> str:
    model = "models.vision names a model that sees"
    return model if seen.recognised else f"{model}; pip install 'kgot-tools-media[ocr]' reads the text of images"
