"""What a call gave, as text for the model with sources and files beside it."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types

from kgot_core.contracts.tools import RunFiles, Source, ToolArtifact
from kgot_core.errors import KgotError

MOST_FILES = 50
MOST_SOURCES = 200
_USUAL = {"image/jpeg": ".jpg", "audio/mpeg": ".mp3", "audio/wav": ".wav", "text/plain": ".txt"}


class Reading:
    """Reads the result of one call.

    Args:
        tool: Name of the tool, with which files are named.
        files: The run's files.
    """

    def __init__(self, tool: str, files: RunFiles) -> None:
        self._tool = tool
        self._files = files
        self._sources: list[Source] = []
        self._made: list[str] = []

    def read(self, result: mcp_types.CallToolResult) -> tuple[str, ToolArtifact]:
        """Gives the text, and sources and files.

        Raises:
            KgotError: The server says that the call has failed.
        """
        texts = [text for block in result.content for text in self._block(block) if text]
        if (data := _structured(result, texts)) is not None:
            texts.append(data)
        text = "\n\n".join(texts)
        if result.is_error:
            raise KgotError(text or "the server says that the call has failed, and not why")
        sources = tuple(dict.fromkeys(self._sources))[:MOST_SOURCES]
        return text, ToolArtifact(sources, tuple(self._made))

    def _block(self, block: Any) -> Iterator[str]:
        if isinstance(block, mcp_types.TextContent):
            yield block.text
        elif isinstance(block, mcp_types.ImageContent | mcp_types.AudioContent):
            kind = "image" if isinstance(block, mcp_types.ImageContent) else "sound"
            yield self._saved(block.data, block.mime_type, kind, "")
        elif isinstance(block, mcp_types.ResourceLink):
            self._sources.append(Source(str(block.uri), block.title or block.name or ""))
            told = " ".join((block.description or "").split())
            yield f"[link to {block.title or block.name}: {block.uri}]{f' {told}' if told else ''}"
        elif isinstance(block, mcp_types.EmbeddedResource):
            yield from self._resource(block.resource)
        else:
            yield f"[content of a kind that cannot be read: {getattr(block, 'type', type(block).__name__)}]"

    def _resource(self, resource: Any) -> Iterator[str]:
        uri = str(resource.uri)
        self._sources.append(Source(uri))
        if isinstance(resource, mcp_types.TextResourceContents):
            yield f"[{uri}]\n{resource.text}"
        else:
            yield self._saved(resource.blob, resource.mime_type or "", "file", uri)

    def _saved(self, data: str, mime: str, kind: str, uri: str) -> str:
        of = f" {uri}" if uri else ""
        if len(self._made) >= MOST_FILES:
            return f"[{kind}{of} is not kept: one call may give {MOST_FILES} files at most]"
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return f"[{kind}{of} cannot be read: it is not base64]"
        path = _free(self._files.folder, self._tool, _ending(mime, uri))
        path.write_bytes(content)
        name = self._files.add(path)
        self._made.append(name)
        return f"[{kind}{of} kept as {name}, {mime.partition(';')[0] or 'of unknown kind'}, {len(content):,} bytes]"


def _structured(result: mcp_types.CallToolResult, texts: list[str]) -> str | None:
    """Gives the structured content as JSON where no text says the same, as servers usually let one do."""
    data = result.structured_content
    if data is None:
        return None
    # A plain value is wrapped under this name where a server's library makes an object of it.
    alike = [data, *([data["result"]] if isinstance(data, dict) and data.keys() == {"result"} else [])]
    if any(_parsed(text) in alike or text in alike for text in texts):
        return None
    if isinstance(alike[-1], list) and texts and [_parsed(text) for text in texts] == alike[-1]:
        return None
    return json.dumps(data, ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _ending(mime: str, uri: str) -> str:
    kind = mime.partition(";")[0].strip().lower()
    found = re.search(r"\.[A-Za-z0-9]{1,8}$", uri.partition("?")[0].partition("#")[0])
    return _USUAL.get(kind) or mimetypes.guess_extension(kind) or (found[0] if found else ".bin")


def _free(folder: Path, stem: str, ending: str) -> Path:
    """Makes a new file, so that two calls at once never have the same one."""
    number = 1
    while True:
        path = folder / f"{stem}-{number}{ending}"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return path
