"""E-mails: heads, text, and which files are attached."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

from kgot_tools_media.markdown import markdown_parts
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.readers.html import to_markdown

_HEADS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the message."""
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    yield from message_parts(message, "")


def message_parts(message: EmailMessage, section: str) -> Iterator[Part | Fact | Note]:
    """Gives a message; messages that are attached to it come after it."""
    heads = [f"{name}: {message[name]}" for name in _HEADS if message[name]]
    yield Part("  \n".join(heads) + "\n", section)
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = str(body.get_content())
        yield from markdown_parts(to_markdown(text) if body.get_content_subtype() == "html" else text, section)
    names = []
    for attached in message.iter_attachments():
        inner = attached.get_content() if attached.get_content_type() == "message/rfc822" else None
        if isinstance(inner, EmailMessage):
            yield from message_parts(inner, f"attached message {inner['Subject'] or ''}".strip())
            continue
        size = len(attached.get_payload(decode=True) or b"")
        names.append(f"{attached.get_filename() or attached.get_content_type()} ({size:,} bytes)")
    if names:
        yield Fact(f"{len(names)} attachments")
        yield Note("attached: " + ", ".join(names) + "; extract_archive with this file gives them")
