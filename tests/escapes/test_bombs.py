from __future__ import annotations

import pytest

from kgot_core.contracts.sandbox import CodeJob

COUNT = "import itertools\nfor i in itertools.count():\n"
# Name, script, limit.
BOMBS = [
    ("processes", "import os\nwhile True:\n    os.fork()", "processes"),
    ("threads", "from threading import *\nwhile True:\n    Thread(target=Event().wait).start()", "processes"),
    ("memory", "x = bytearray(1 << 40)", "memory"),
    ("shared memory", "import mmap\nx = [mmap.mmap(-1, 1 << 27) for _ in range(9)]", ""),
    (
        "memory of many",
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        x = os.urandom(1 << 20) * 80\n"
        "        time.sleep(60)\ntime.sleep(60)",
        "memory",
    ),
    ("one file", "f = open('f', 'wb')\nwhile True:\n    f.write(bytes(1 << 20))", "files"),
    ("many files", COUNT + "    open(f'f{i}', 'wb').write(bytes(1 << 20))", "files"),
    ("empty files", COUNT + "    open(f'f{i}', 'w').close()", "files"),
    ("shared memory files", COUNT + "    open(f'/dev/shm/{i}', 'wb').write(bytes(1 << 20))", "files"),
    ("descriptors", "x = []\nwhile True:\n    x.append(open('/dev/null'))", ""),
    ("output", "import os\nwhile True:\n    os.write(2, bytes(65536))", "output"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code", "limit"), BOMBS, ids=[name for name, *_ in BOMBS])
def test_bomb_ends_at_its_limit(jail, unaffected, name, code, limit):
    result = jail.run(CodeJob(code))
    # Where there is no shared memory, nothing can be written to it.
    denied = name == "shared memory files" and "Permission denied" in result.error
    assert result.error and (result.limit == limit or not limit or denied), result
    assert len(result.output) < 2_000 + 200
    unaffected(jail)
