"""Fills the prompts of this package."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def fill(name: str, **slots: str) -> str:
    """Fills a prompt by its name."""
    text = (files("kgot_tools_web.prompts") / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(slots).strip()


def as_data(tag: str, text: str, **attributes: str) -> str:
    """Wraps text that others wrote in a tag that it cannot close."""
    shown = "".join(f' {name}="{_quoted(value)}"' for name, value in attributes.items() if value)
    safe = text.replace(f"</{tag}", f"<\\/{tag}")
    return f"<{tag}{shown}>\n{safe}\n</{tag}>"


def _quoted(value: str) -> str:
    return " ".join(value.replace('"', "'").replace("<", "(").replace(">", ")").split())
