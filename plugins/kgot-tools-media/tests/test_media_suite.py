"""The tools keep the contract of all tools."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from kgot_core.testing.checking import test_classes as classes_of
from kgot_core.testing.tool_suite import NoToolSuite, ToolSuite, offers_nothing
from kgot_tools_media.plugin import kgot_tools

# One pixel: an image that is text.
PIXEL = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
# Half a second of silence; with these numbers each byte is a letter of ASCII.
SAMPLES = 8_224
FORMAT = struct.pack("<IHHIIHH", 16, 1, 1, 8_192, 16_384, 2, 16)
_DATA = b"data" + struct.pack("<I", SAMPLES) + bytes(SAMPLES)
SILENCE = (b"RIFF" + struct.pack("<I", 36 + SAMPLES) + b"WAVEfmt " + FORMAT + _DATA).decode("ascii")
PROVIDERS = {provider.name: provider for provider in kgot_tools()}
# An archive that is text, as the suite's attachments are.
MAIL = """From: odo@example.org
Subject: Ships
Content-Type: multipart/mixed; boundary=x

--x
Content-Disposition: attachment; filename=ships.csv

port,ships
Orm,3
--x--
"""


class TestInspectFile(ToolSuite):
    provider = PROVIDERS["inspect_file"]
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"inspect_file": {"path": "not-there.pdf"}}


class TestExtractArchive(ToolSuite):
    provider = PROVIDERS["extract_archive"]
    attachments: ClassVar[Mapping[str, str]] = {"mail.eml": MAIL}
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"extract_archive": {"path": "mail.eml"}}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"extract_archive": {"path": "not-there.zip"}}


class TestInspectImage(ToolSuite):
    provider = PROVIDERS["inspect_image"]
    settings = PROVIDERS["inspect_image"].settings(ocr=False)
    attachments: ClassVar[Mapping[str, str]] = {"pixel.svg": PIXEL}
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"inspect_image": {"path": "pixel.svg"}}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"inspect_image": {"path": "not-there.png"}}


class TestSearchFiles(ToolSuite):
    provider = PROVIDERS["search_files"]
    attachments: ClassVar[Mapping[str, str]] = {"tides.txt": "High tide 14:05", "dues.txt": "Harbour dues of 1952: 40"}


class TestTranscribeAudio(ToolSuite):
    provider = PROVIDERS["transcribe_audio"]
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"transcribe_audio": {"path": "silent.wav"}}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"transcribe_audio": {"path": "not-there.mp3"}}
    attachments: ClassVar[Mapping[str, str]] = {"silent.wav": SILENCE}


def test_without_files_the_search_is_checked_for_making_no_tool(tmp_path: Path) -> None:
    classes = classes_of("search_files", tmp_path, (), ())
    assert issubclass(classes["TestToolSearchFiles"], NoToolSuite)
    classes["TestToolSearchFiles"]().test_without_what_it_needs_it_makes_no_tool_and_no_error()
    assert issubclass(classes["TestToolInspectFile"], ToolSuite)
    assert not offers_nothing(PROVIDERS["inspect_file"], PROVIDERS["inspect_file"].settings())
