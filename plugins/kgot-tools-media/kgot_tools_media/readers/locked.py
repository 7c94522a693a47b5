"""Office files with a password: decrypted in memory, then read as what they are."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from msoffcrypto import OfficeFile
from msoffcrypto.exceptions import DecryptionError, InvalidKeyError

from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers import slides, word, workbook

_READERS = (("word/document.xml", word.read), ("ppt/presentation.xml", slides.read), ("xl/workbook.xml", workbook.read))


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives what is behind the password."""
    if not options.password:
        raise CannotRead("is protected by a password", "give it as password, or save the file without one")
    opened = io.BytesIO()
    with path.open("rb") as file:
        locked = OfficeFile(file)
        try:
            locked.load_key(password=options.password)
            locked.decrypt(opened)
        except (InvalidKeyError, DecryptionError):
            raise CannotRead("is protected by another password than the one given") from None
    names = zipfile.ZipFile(opened).namelist()
    for main, reader in _READERS:
        if main in names:
            opened.seek(0)
            yield from reader(opened, options)
            return
    raise CannotRead("holds nothing that can be read behind its password")
