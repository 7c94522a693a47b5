"""Addresses of the web, which the tools of another package open where the run has them."""

from __future__ import annotations

import re

from kgot_core.contracts.tools import ToolArtifact, ToolContext
from kgot_core.errors import KgotError

_VIDEO = re.compile(r"https?://(?:[\w-]+\.)*(?:youtube\.com|youtu\.be|youtube-nocookie\.com)/", re.IGNORECASE)


def is_address(said: str) -> bool:
    """Tells whether a path is an address of the web."""
    return re.match(r"\s*[\"'`<]?https?://", said, re.IGNORECASE) is not None


async def opened(context: ToolContext, address: str, question: str) -> tuple[str, ToolArtifact]:
    """Lets the run's tool for pages, or that for videos, open an address; a file there comes back to the tools here.

    Raises:
        KgotError: The run has no such tool, or the address gives nothing.
    """
    address = address.strip().strip("\"'`<>")
    video = _VIDEO.match(address) is not None and "youtube_transcript" in context.tools
    name, argument = ("youtube_transcript", "video") if video else ("visit_page", "url")
    if name not in context.tools:
        raise KgotError(
            f"{address[:200]} is an address, and this run has no tool that opens addresses",
            hint="pip install kgot-tools-web",
        )
    result = await context.call(name, {argument: address, **({"question": question} if question else {})})
    if result.failed:
        raise KgotError(result.text)
    return result.text, result.artifact
