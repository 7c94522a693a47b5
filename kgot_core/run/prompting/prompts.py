"""Prompts are Markdown files with ``${slot}`` places; a user's folder may replace one by its name."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from string import Template

from kgot_core.errors import UsageError

PACKAGE = "kgot_core.prompts"


class Prompts:
    """The prompts of one run.

    Args:
        folder: A folder whose ``NAME.md`` files replace those of the core, or ``None``.

    Raises:
        UsageError: The folder is missing, holds a prompt of no known name, or one with other slots.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._texts = {
            entry.name.removesuffix(".md"): entry.read_text(encoding="utf-8")
            for entry in sorted(files(PACKAGE).iterdir(), key=lambda item: item.name)
            if entry.name.endswith(".md")
        }
        if folder is not None:
            self._replace(folder)

    @property
    def names(self) -> tuple[str, ...]:
        """All prompts."""
        return tuple(self._texts)

    @property
    def digest(self) -> str:
        """Hash of all prompts, recorded with the run."""
        joined = "\0".join(f"{name}\0{text}" for name, text in sorted(self._texts.items()))
        return hashlib.sha256(joined.encode()).hexdigest()[:16]

    def text(self, name: str) -> str:
        """Gives a prompt with its slots unfilled."""
        return self._texts[name]

    def slots(self, name: str) -> frozenset[str]:
        """Gives the slots of a prompt."""
        return _slots(self._texts[name])

    def fill(self, name: str, **slots: str) -> str:
        """Fills a prompt's slots.

        Raises:
            ValueError: A slot is missing or unknown.
        """
        wanted = self.slots(name)
        if wanted != slots.keys():
            raise ValueError(f"prompt {name} takes the slots {sorted(wanted)}, not {sorted(slots)}")
        return Template(self._texts[name]).substitute(slots).strip()

    def _replace(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"prompts.dir names no folder: {folder}")
        for path in sorted(folder.glob("*.md")):
            name = path.stem
            if name not in self._texts:
                raise UsageError(f"{path} replaces no prompt", hint="prompts are " + ", ".join(self._texts))
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                raise UsageError(f"the prompt {path} cannot be read: {reason}") from None
            if _slots(text) != self.slots(name):
                wanted = ", ".join(f"${{{slot}}}" for slot in sorted(self.slots(name))) or "none"
                raise UsageError(f"{path} has other slots than the prompt it replaces", hint=f"slots: {wanted}")
            self._texts[name] = text


def _slots(text: str) -> frozenset[str]:
    template = Template(text)
    if not template.is_valid():
        raise UsageError("a prompt holds a lone $", hint="write $$ for the sign itself")
    return frozenset(template.get_identifiers())
