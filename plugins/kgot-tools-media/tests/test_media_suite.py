"""The tools keep the contract of all tools."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from kgot_core.testing.tool_suite import ToolSuite
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


def test_an_installed_package_is_tried_with_files_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kgot_core", "plugins", "check", "search_files", "--set"]
    command += ["tools.inspect_image.ocr=false"]  # its models take seconds to load
    environment = {**os.environ, "CI": "", "KGOT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and " passed" in done.stdout and "failed" not in done.stdout, done.stdout
    assert "skipped" not in done.stdout, "all of them are called"
