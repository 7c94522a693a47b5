"""``extract_archive``: what it unpacks, and what it refuses to."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import py7zr
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.sandboxes.files import safe_name
from kgot_tools_media.unpacking.writing import safe_place


def zip_of(path: Path, **members: bytes | str) -> Path:
    """Writes a zip; ``__`` in a name stands for ``/``, ``_dot_`` for ``.``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return path


def test_files_are_listed_become_files_of_the_run_and_short_ones_are_shown(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    archive = zip_of(tmp_path / "data.zip", a__ports_dot_csv="port,ships\nOrm,3\n", b__ports_dot_csv="port\nSarn\n")
    result = call("extract_archive", archive)
    assert not result.failed
    assert "| a/ports.csv | ports.csv | 17 | table as text |" in result.text
    assert "| b/ports.csv | ports-2.csv |" in result.text
    assert "| Orm | 3 |" in result.text and "| Sarn |" in result.text
    assert result.artifact.files == ("ports.csv", "ports-2.csv")
    assert result.artifact.sources[0].address == "data.zip"


def test_nothing_is_written_outside_the_folder(call: Callable[..., Any], tmp_path: Path) -> None:
    """Case D27: zip slip."""
    with zipfile.ZipFile(tmp_path / "slip.zip", "w") as archive:
        for name in ("ok.txt", "../evil.txt", "/abs.txt", "a/../../b.txt", "C:\\win.txt"):
            archive.writestr(name, "fine")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    result = call("extract_archive", tmp_path / "slip.zip")
    assert result.artifact.files == ("ok.txt",)
    written = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.name for path in written} == {"ok.txt"}
    for name in ("../evil.txt", "/abs.txt", "a/../../b.txt", "C:\\win.txt"):
        assert f"- {name}: its name leads out" in result.text


def test_a_bomb_is_not_unpacked(call: Callable[..., Any], tmp_path: Path) -> None:
    """Case D27: zip bomb."""
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(20):
            archive.writestr(f"{number}.txt", b"0" * 50_000_000)
        archive.writestr("small.txt", "still here")
    assert (tmp_path / "bomb.zip").stat().st_size < 6_000_000
    result = call("extract_archive", tmp_path / "bomb.zip", settings={"seconds": 10.0, "memory_mb": 200})
    assert result.artifact.files == ("small.txt",)
    assert "more than 200 times its packed size" in result.text and "still here" in result.text
    assert sum(path.stat().st_size for path in (tmp_path / "run").rglob("*") if path.is_file()) < 1_000


def test_the_size_of_the_whole_is_limited_and_said(call: Callable[..., Any], tmp_path: Path) -> None:
    import random

    noise = random.Random(7).randbytes(700_000)
    with zipfile.ZipFile(tmp_path / "big.zip", "w") as archive:
        for name in ("one.bin", "two.bin"):
            archive.writestr(name, noise)
    result = call("extract_archive", tmp_path / "big.zip", settings={"total_mb": 1})
    assert result.artifact.files == ("one.bin",)
    assert "- two.bin: the limit of the whole archive is reached" in result.text


def test_the_number_of_files_is_limited(call: Callable[..., Any], tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "many.zip", **{f"f{number}": "x" for number in range(5)})
    result = call("extract_archive", archive, settings={"files": 2})
    assert result.artifact.files == ("f0", "f1")
    assert "- f4: more files than are unpacked at most" in result.text


def test_archives_in_archives_are_unpacked_to_a_depth(call: Callable[..., Any], tmp_path: Path) -> None:
    inner = zip_of(tmp_path / "inner.zip", deep_dot_txt="at the bottom 4417").read_bytes()
    middle = zip_of(tmp_path / "middle.zip", inner_dot_zip=inner).read_bytes()
    outer = zip_of(tmp_path / "outer.zip", middle_dot_zip=middle)
    result = call("extract_archive", outer)
    assert "| middle.zip/inner.zip/deep.txt | deep.txt |" in result.text and "4417" in result.text
    shallow = call("extract_archive", outer, settings={"depth": 2})
    assert "archives are unpacked 2 deep" in shallow.text and "4417" not in shallow.text


def test_links_and_devices_are_not_made(call: Callable[..., Any], tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "links.tar.gz", "w:gz") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("good.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"good"))
    result = call("extract_archive", tmp_path / "links.tar.gz")
    assert result.artifact.files == ("good.txt",)
    assert "- link: it is a link" in result.text and "- pipe: it is no file" in result.text
    info_zip = zipfile.ZipInfo("link.txt")
    info_zip.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as packed:
        packed.writestr(info_zip, "/etc/passwd")
    assert "- link.txt: it is a link" in call("extract_archive", tmp_path / "link.zip").text


def test_a_name_that_comes_twice_overwrites_nothing(call: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.warns(UserWarning), zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("a.txt", "first")
        archive.writestr("a.txt", "second")
    result = call("extract_archive", tmp_path / "twice.zip")
    assert "first" in result.text and "- a.txt: another file has this name already" in result.text


def test_a_single_packed_file_is_unpacked(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "ports.csv.gz").write_bytes(gzip.compress(b"port,ships\nOrm,3\n"))
    result = call("extract_archive", tmp_path / "ports.csv.gz")
    assert result.artifact.files == ("ports.csv",) and "| Orm | 3 |" in result.text


def test_seven_zip_is_unpacked_with_its_password(call: Callable[..., Any], tmp_path: Path) -> None:
    with py7zr.SevenZipFile(tmp_path / "locked.7z", "w", password="s3cret") as archive:
        archive.writestr("Orm has 3 ships", "note.txt")
    assert "protected by a password" in call("extract_archive", tmp_path / "locked.7z").text
    assert "Orm has 3 ships" in call("extract_archive", tmp_path / "locked.7z", password="s3cret").text


def test_what_is_no_archive_or_damaged_is_said(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Orm")
    (tmp_path / "cut.zip").write_bytes(zip_of(tmp_path / "whole.zip", a="text").read_bytes()[:40])
    for name, words in (("note.txt", "is no archive but of the kind text"), ("cut.zip", "cut.zip is damaged")):
        result = call("extract_archive", tmp_path / name)
        assert result.failed and words in result.text
    assert not list((tmp_path / "run").rglob("*")), "no folder is left of an archive that gave nothing"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    place = safe_place(name)
    if place is not None:
        assert not place.is_absolute() and ".." not in place.parts
        assert safe_name(place.name), "or no script could be run any more"
