"""What prompts of the core and of plugins have in common: filled from Markdown files, what others wrote marked off."""

from __future__ import annotations

import re
from importlib.resources import files
from string import Template


def fill_prompt(package: str, name: str, /, **slots: str) -> str:
    """Fills a prompt that a package brings.

    Args:
        package: The package that holds it, such as ``kgot_tools_web.prompts``.
        name: Its file's name without ``.md``.
        slots: A text for each ``${slot}`` in it.

    Raises:
        KeyError: A slot is missing.
    """
    text = (files(package) / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(slots).strip()


def tagged(tag: str, text: str, /, **attributes: object) -> str:
    """Wraps text in an XML tag; what stands inside is data and cannot close the tag.

    Args:
        tag: The tag's name.
        text: What others wrote: a page, a result, a reply.
        attributes: Attributes of the tag; an empty one is left out.
    """
    shown = "".join(f' {name}="{_quoted(value)}"' for name, value in attributes.items() if value not in ("", None))
    return f"<{tag}{shown}>\n{kept_inside(tag, text)}\n</{tag}>"


def kept_inside(tag: str, text: str) -> str:
    """Writes a text so that it closes no tag of this name, in whatever letters and spaces its end is spelled.

    Args:
        tag: The tag's name.
        text: What others wrote.
    """
    return re.sub(rf"<(?=\s*/\s*{re.escape(tag)})", r"<\\", text, flags=re.IGNORECASE)


def _quoted(value: object) -> str:
    return " ".join(str(value).replace('"', "'").replace("<", "(").replace(">", ")").split())
