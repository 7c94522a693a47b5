"""Which settings files outside the user's own config folder are trusted, by path and content."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kgot_core.errors import UsageError
from kgot_core.settings.files import SettingsFile

STORE_NAME = "trusted.json"


@dataclass(frozen=True)
class TrustStore:
    """What the user said of files outside the config folder.

    Attributes:
        folder: The user's config folder; every file below it is trusted. ``None``: nothing is.
    """

    folder: Path | None

    def trusts(self, file: SettingsFile) -> bool:
        """Tells whether a file, as it was read, is trusted."""
        return self._own(file) or self._known().get(str(file.path)) == file.digest

    def knew(self, file: SettingsFile) -> bool:
        """Tells whether another content of the file was trusted before."""
        return str(file.path) in self._known()

    def trust(self, file: SettingsFile) -> None:
        """Trusts a file as it was read; a later change takes the trust away.

        Raises:
            UsageError: There is no config folder, or it cannot be written.
        """
        if self.folder is None:
            raise UsageError("there is no config folder to keep trust in")
        known = {**self._known(), str(file.path): file.digest}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=STORE_NAME)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(known, stream, indent=1, sort_keys=True)
            Path(name).replace(self.folder / STORE_NAME)
        except OSError as error:
            raise UsageError(f"{self.folder} cannot be written: {error.strerror or error}") from error

    def _own(self, file: SettingsFile) -> bool:
        return self.folder is not None and file.path.is_relative_to(self.folder.resolve())

    def _known(self) -> dict[str, str]:
        if self.folder is None or not (self.folder / STORE_NAME).is_file():
            return {}
        store = self.folder / STORE_NAME
        try:
            known = json.loads(store.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{store} cannot be read", hint="remove it, and trust your files again") from error
        return known if isinstance(known, dict) else {}
