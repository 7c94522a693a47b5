"""Runs pip in a process that can start no other: whatever it meets, it can build nothing, so no code of a package runs.

``--only-binary`` does not reach a requirement that a wheel names by its address.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

_STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")


def refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that refuses to start a process; a hook cannot be taken away again.

    Raises:
        OSError: One would be started.
    """
    if event in _STARTS:
        raise OSError("a package is no wheel and would have to be built, which is not done here")


if __name__ == "__main__":
    sys.addaudithook(refuse_processes)
    # The folder of this file is no place to import from.
    sys.path.pop(0)
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
