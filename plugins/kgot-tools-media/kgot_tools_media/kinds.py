"""Which kind a file is: by what is in it, and by its ending where the content leaves that open."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from kgot_tools_media.parts import CannotRead

Family: TypeAlias = Literal["document", "image", "sound", "archive"]
HEAD = 4_096


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        title: What it is called.
        reader: The module of ``readers`` that reads it; empty for what is no document, or cannot be read.
        endings: The endings it usually has.
        family: Which tool takes it.
    """

    title: str
    reader: str = ""
    endings: tuple[str, ...] = ()
    family: Family = "document"


PDF = Kind("PDF", "pdf", (".pdf",))
WORD = Kind("Word document", "word", (".docx", ".docm", ".dotx"))
SLIDES = Kind("PowerPoint presentation", "slides", (".pptx", ".pptm", ".ppsx", ".potx"))
WORKBOOK = Kind("Excel workbook", "workbook", (".xlsx", ".xlsm", ".xltx"))
OLD_WORKBOOK = Kind("Excel workbook of the old format", "old_workbook", (".xls",))
ODF = Kind("OpenDocument file", "open_document", (".odt", ".ods", ".odp", ".ott", ".ots", ".otp", ".odg"))
EPUB = Kind("EPUB book", "epub", (".epub",))
RTF = Kind("RTF document", "rtf", (".rtf",))
OUTLOOK = Kind("Outlook message", "outlook", (".msg",))
MAIL = Kind("e-mail", "mail", (".eml",))
DATABASE = Kind("SQLite database", "database", (".db", ".sqlite", ".sqlite3"))
LOCKED = Kind("Office file with a password", "locked", ())
HTML = Kind("HTML page", "html", (".html", ".htm", ".xhtml", ".mhtml"))
TABLE = Kind("table as text", "delimited", (".csv", ".tsv", ".tab", ".psv"))
NOTEBOOK = Kind("notebook", "notebook", (".ipynb",))
JSON = Kind("JSON", "data", (".json", ".geojson"))
JSON_LINES = Kind("JSON lines", "json_lines", (".jsonl", ".ndjson"))
XML = Kind("XML", "xml", (".xml", ".gpx", ".kml", ".rss", ".atom", ".xsd", ".plist", ".svg"))
TEXT = Kind("text", "plain")
ZIP = Kind("ZIP archive", endings=(".zip", ".jar", ".whl", ".kmz"), family="archive")
TAR = Kind("tar archive", endings=(".tar", ".tgz", ".tbz2", ".txz"), family="archive")
GZIP = Kind("gzip file", endings=(".gz", ".tgz"), family="archive")
BZIP2 = Kind("bzip2 file", endings=(".bz2", ".tbz2"), family="archive")
XZ = Kind("xz file", endings=(".xz", ".txz"), family="archive")
SEVEN_ZIP = Kind("7z archive", endings=(".7z",), family="archive")
PICTURE = Kind(
    "image",
    endings=(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".ico"),
    family="image",
)
SOUND = Kind(
    "sound or video",
    endings=(".mp3", ".wav", ".m4a", ".flac", ".ogg", ".oga", ".opus", ".aac", ".mp4", ".mov", ".mkv", ".webm", ".avi"),
    family="sound",
)

_BY_TEXT_ENDING = (HTML, TABLE, NOTEBOOK, JSON, JSON_LINES, XML, MAIL)
_ALL = (
    *(PDF, WORD, SLIDES, WORKBOOK, OLD_WORKBOOK, ODF, EPUB, RTF, OUTLOOK, DATABASE, *_BY_TEXT_ENDING),
    *(ZIP, TAR, GZIP, BZIP2, XZ, SEVEN_ZIP, PICTURE, SOUND),
)
_MAGIC: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"{\\rtf", RTF),
    (0, b"SQLite format 3\x00", DATABASE),
    (0, b"\x1f\x8b", GZIP),
    (0, b"BZh", BZIP2),
    (0, b"\xfd7zXZ\x00", XZ),
    (0, b"7z\xbc\xaf\x27\x1c", SEVEN_ZIP),
    (257, b"ustar", TAR),
    (0, b"\x89PNG\r\n\x1a\n", PICTURE),
    (0, b"\xff\xd8\xff", PICTURE),
    (0, b"GIF87a", PICTURE),
    (0, b"GIF89a", PICTURE),
    (0, b"BM", PICTURE),
    (0, b"II*\x00", PICTURE),
    (0, b"MM\x00*", PICTURE),
    (8, b"WEBP", PICTURE),
    (4, b"ftyphei", PICTURE),
    (4, b"ftypmif1", PICTURE),
    (4, b"ftypavif", PICTURE),
    (4, b"ftyp", SOUND),
    (8, b"WAVE", SOUND),
    (8, b"AVI ", SOUND),
    (0, b"ID3", SOUND),
    (0, b"fLaC", SOUND),
    (0, b"OggS", SOUND),
    (0, b"\x1aE\xdf\xa3", SOUND),
)
_UNREADABLE = (
    (b"Rar!\x1a\x07", "an RAR archive", "no free library opens these; pack the files as zip or 7z"),
    (b"PAR1", "a Parquet file", "run_python_code can read it where pandas and pyarrow are installed"),
    (b"\x7fELF", "a program", ""),
    (b"MZ", "a program", ""),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True)
class Found:
    """What a file was found to be.

    Attributes:
        kind: Its kind.
        note: Said where its ending promises something else.
    """

    kind: Kind
    note: str = ""


def recognise(path: Path) -> Found:
    """Tells which kind a file is.

    Raises:
        CannotRead: It is empty, or of a kind that cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise CannotRead("is empty (0 bytes)", "ask for the file again, or use another one")
    ending = path.suffix.lower()
    kind = _by_content(path, head) or _by_ending(ending, head)
    meant = next((other for other in _ALL if ending in other.endings), None)
    if meant is None or meant is kind or ending in kind.endings or (meant in _BY_TEXT_ENDING and kind is TEXT):
        return Found(kind)
    return Found(kind, f"its name ends in {ending}, but it is a file of another kind: {kind.title}")


def _by_content(path: Path, head: bytes) -> Kind | None:
    for mark, name, way_out in _UNREADABLE:
        if head.startswith(mark) and b"\x00" in head:
            raise CannotRead(f"is {name}, which cannot be read", way_out)
    if b"%PDF-" in head[:1_024]:
        return PDF
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _in_zip(path)
    if head.startswith(_OLE):
        return _in_ole(path)
    for start, mark, kind in _MAGIC:
        # Two letters alone also begin a text.
        if head[start:].startswith(mark) and (len(mark) > 2 or b"\x00" in head):
            return kind
    if len(head) > 2 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[:2] != b"\xff\xfe":
        return SOUND  # a frame of MPEG sound
    return None


def _by_ending(ending: str, head: bytes) -> Kind:
    """Tells apart what is text."""
    if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")) and not _wide(head):
        if ending in SOUND.endings + PICTURE.endings:
            raise CannotRead("is damaged, or of a kind that is not known")
        raise CannotRead("is a binary file of a kind that is not known", "run_python_code can read its bytes")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    for kind in _BY_TEXT_ENDING:
        if ending in kind.endings:
            return kind
    if start.startswith((b"<!doctype html", b"<html")):
        return HTML
    if start.startswith(b"<?xml"):
        return XML
    return TEXT


def _wide(head: bytes) -> bool:
    """Tells whether every second byte is mostly zero: UTF-16 without a mark."""
    return max(head[0::2].count(0), head[1::2].count(0)) > len(head) * 0.35


def _in_zip(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            mime = archive.read("mimetype")[:100].decode("ascii", "replace") if _small(archive) else ""
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
        return next((kind for kind in _ALL if path.suffix.lower() in kind.endings), ZIP)
    if mime.startswith("application/epub"):
        return EPUB
    if mime.startswith("application/vnd.oasis.opendocument"):
        return ODF
    for main, kind in (("word/document.xml", WORD), ("ppt/presentation.xml", SLIDES), ("xl/workbook.xml", WORKBOOK)):
        if main in names:
            return kind
    if "[Content_Types].xml" in names:
        return next((kind for kind in (WORD, SLIDES, WORKBOOK) if path.suffix.lower() in kind.endings), ZIP)
    return ZIP


def _small(archive: zipfile.ZipFile) -> bool:
    try:
        return archive.getinfo("mimetype").file_size < 1_000
    except KeyError:
        return False


def _in_ole(path: Path) -> Kind:
    import olefile

    with olefile.OleFileIO(path) as store:
        names = {"/".join(entry) for entry in store.listdir()}
    if "EncryptedPackage" in names:
        return LOCKED
    if "Workbook" in names or "Book" in names:
        return OLD_WORKBOOK
    if any(name.startswith("__substg1.0_") or name.startswith("__properties_version1.0") for name in names):
        return OUTLOOK
    what = "Word" if "WordDocument" in names else "PowerPoint" if "PowerPoint Document" in names else "Office"
    raise CannotRead(
        f"is a {what} file of the format before 2007", "save it in the present format or as PDF, and give that"
    )
