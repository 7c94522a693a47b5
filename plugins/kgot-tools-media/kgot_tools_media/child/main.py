"""The child process: gets one job on its standard input, writes what it found line by line, and ends."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kgot_tools_media.child.limits import limit
from kgot_tools_media.parts import TOO_DEEP, CannotRead, plain

MOST_BYTES = 64 << 20
_JOBS = frozenset({"listen", "look", "read", "read_many", "unpack"})


class Writer:
    """Writes messages, and says when there are too many."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb")
        self._left = MOST_BYTES

    def write(self, message: Mapping[str, Any]) -> bool:
        """Writes a message at once, so that it counts even if this process is ended; tells whether more may come."""
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        self._left -= len(line)
        self._file.write(line)
        self._file.flush()
        return self._left > 0


def main() -> None:
    """Does one job."""
    descriptor = os.dup(1)
    # What a library prints must not get between the messages.
    os.dup2(2, 1)
    writer = Writer(descriptor)
    job = json.load(sys.stdin.buffer)
    limit(job["memory_mb"], job.get("write_mb", 0))
    try:
        _work(job, writer)
    except CannotRead as error:
        writer.write({"problem": plain(error.message, job.get("path", "")), "hint": error.hint})
    except MemoryError:
        writer.write({"ended": "memory"})
    except RecursionError:
        writer.write({"problem": TOO_DEEP, "hint": "run_python_code can read it"})
    except Exception as error:  # any library may raise anything on a damaged file; the host says it in one line
        writer.write({"ended": "fault", "cause": plain(f"{type(error).__name__}: {error}", job.get("path", ""))})
    else:
        writer.write({"ended": ""})
    # Libraries that hold a great deal need not be taken down one object at a time.
    os._exit(0)


def _work(job: Mapping[str, Any], writer: Writer) -> None:
    if job["do"] not in _JOBS:
        raise ValueError(f"there is no job {job['do']}")
    module = importlib.import_module(f"kgot_tools_media.child.{job['do']}")
    run: Callable[[Mapping[str, Any]], Iterator[Mapping[str, Any]]] = module.run
    for message in run(job):
        if not writer.write(message):
            writer.write({"note": f"only its first {MOST_BYTES >> 20} MiB of text were read"})
            return


if __name__ == "__main__":
    main()
