"""The tools keep the contract of all tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kgot_core.testing.tool_suite import ToolSuite
from kgot_tools_media.plugin import kgot_tools

# One pixel: an image that is text.
PIXEL = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
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
