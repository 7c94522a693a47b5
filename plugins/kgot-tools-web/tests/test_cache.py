"""Pages on disk: what is kept, for how long, how much of it, and for whom."""

from __future__ import annotations

import datetime
import ipaddress
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgot_tools_web.net.cache import Fetched, PageCache, now
from kgot_tools_web.net.fetching import Fetcher, Limits
from kgot_tools_web.net.guard import Blocked, Guard
from kgot_tools_web.net.pace import Pace

KIB = 1 << 10
WRITER = """
import sys, datetime
from pathlib import Path
from kgot_tools_web.net.cache import Fetched, PageCache, now
cache = PageCache(Path(sys.argv[1]), 24.0, 256 << 10)
for number in range(60):
    name = f"{sys.argv[2]}-{number}"
    cache.put(name, Fetched(name, name, "text/plain", "", bytes(16 << 10), now().isoformat()))
    kept = cache.get(name)
    assert kept is None or kept.body == bytes(16 << 10)
"""


def page(name: str, size: int = KIB) -> Fetched:
    """A page of a size, fetched now."""
    return Fetched(name, name, "text/plain", "", bytes(size), now().isoformat())


def files(folder: Path) -> list[Path]:
    """All files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def age(folder: Path, hours: float) -> None:
    """Makes all files look as if they were last used that many hours earlier."""
    for file in files(folder):
        at = file.stat().st_mtime - hours * 3_600
        os.utime(file, (at, at))


def test_a_damaged_entry_on_disk_is_none(tmp_path: Path) -> None:
    cache = PageCache(tmp_path, 1.0, 1 << 20)
    one = Fetched("https://a.example/", "https://a.example/", "text/html", "utf-8", b"<p>\nx</p>", now().isoformat())
    cache.put("a", one)
    assert cache.get("a") == one and cache.get("b") is None
    (file,) = files(tmp_path)
    for damage in (b"", b"{}", b"nonsense\nx", b'{"identity": "a"}\n', b'{"identity": "a", "opened": 7}\n'):
        file.write_bytes(damage)
        assert cache.get("a") is None
    old = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=2)
    cache.put("a", Fetched("u", "u", "", "", b"", old.isoformat()))
    assert cache.get("a") is None, "it is too old"


def test_what_was_not_used_for_the_longest_time_makes_room(tmp_path: Path) -> None:
    cache = PageCache(tmp_path, 24.0, 64 * KIB)
    for number in range(8):
        cache.put(f"old-{number}", page(f"old-{number}", 6 * KIB))
        age(tmp_path, 1.0)
    assert cache.get("old-0") is not None, "so it was used now"
    for number in range(4):
        cache.put(f"new-{number}", page(f"new-{number}", 6 * KIB))
    assert sum(file.stat().st_size for file in files(tmp_path)) <= 64 * KIB
    assert cache.get("old-1") is None and cache.get("old-2") is None
    assert cache.get("old-0") is not None and all(cache.get(f"new-{number}") for number in range(4))


def test_a_page_larger_than_the_whole_is_not_kept(tmp_path: Path) -> None:
    cache = PageCache(tmp_path, 24.0, 64 * KIB)
    cache.put("small", page("small"))
    cache.put("large", page("large", 80 * KIB))
    assert cache.get("large") is None
    assert sum(file.stat().st_size for file in files(tmp_path)) <= 64 * KIB


def test_what_a_process_left_half_written_is_removed_once_it_is_old(tmp_path: Path) -> None:
    cache = PageCache(tmp_path, 24.0, 1 << 20)
    cache.put("a", page("a"))
    left = files(tmp_path)[0].with_name("half.part")
    left.write_bytes(b"x")
    PageCache(tmp_path, 24.0, 1 << 20).put("b", page("b"))
    assert left.exists(), "somebody may be writing it now"
    age(tmp_path, 2.0)
    PageCache(tmp_path, 24.0, 1 << 20).put("c", page("c"))
    assert not left.exists() and PageCache(tmp_path, 24.0, 1 << 20).get("a") is not None


def test_several_processes_share_the_folder(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], stderr=subprocess.PIPE) for name in "abc"
    ]
    for writer in writers:
        _, told = writer.communicate(timeout=120)
        assert writer.returncode == 0, told.decode()
    # Each looks again after a sixteenth, so at most that much of each may be above.
    assert 0 < sum(file.stat().st_size for file in files(tmp_path)) <= (256 + 3 * 32) * KIB
    assert not [file for file in files(tmp_path) if file.suffix == ".part"]


def test_the_size_is_a_setting(call: Callable[..., Any], web: Any, web_kit: Any, own_cache: Path) -> None:
    for number in range(4):
        web.paths[f"/p{number}"] = web_kit.Answer(b"harbour " * (100 * KIB // 2), "text/plain")
        assert not call("visit_page", more={"cache_megabytes": 1}, url=f"{web.url}/p{number}").failed
    assert 0 < sum(file.stat().st_size for file in files(own_cache)) <= 1 << 20


@pytest.mark.parametrize("opened", [["intranet.example"], ["127.0.0.1"]])
async def test_what_one_run_was_let_into_is_not_given_to_another(web: Any, tmp_path: Path, opened: list[str]) -> None:
    async def resolver(host: str, port: int) -> Sequence[Any]:
        return [ipaddress.ip_address("127.0.0.1")]

    def fetcher(allowed: Sequence[str]) -> Fetcher:
        guard = Guard(allowed, resolver=resolver)
        return Fetcher(guard, PageCache(tmp_path, 1.0, 1 << 20), Pace(1_000.0), Limits(10.0, 1 << 20), "test")

    url = f"http://intranet.example:{web.place.rpartition(':')[2]}/wiki/Alps"
    assert b"Alps" in (await fetcher(opened).get(url)).body
    assert b"Alps" in (await fetcher(opened).get(url)).body and web.seen["/wiki/Alps"] == 1, "it is kept"
    with pytest.raises(Blocked):
        await fetcher([]).get(url)
    with pytest.raises(Blocked):
        await fetcher(["other.example"]).get(url)
