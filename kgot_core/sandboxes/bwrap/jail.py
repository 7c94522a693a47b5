"""A jail made by bubblewrap, which gets the filter of system calls and tells the jail's first process through pipes."""

from __future__ import annotations

import contextlib
import os
import re

from kgot_core.sandboxes.bwrap.command import Jail, command
from kgot_core.sandboxes.jail.seccomp import jail_filter
from kgot_core.sandboxes.worker.line import START
from kgot_core.sandboxes.worker.process import JailProcess


class BwrapJail(JailProcess):
    """A started jail.

    Args:
        path: The bubblewrap program.
        jail: What the jail holds.
        tmpfs_bytes: Size of its one writable place, 0 for no limit.
        code: What its interpreter runs instead of the worker, for trying a jail.

    Raises:
        SandboxError: It cannot be started.
    """

    def __init__(self, path: str, jail: Jail, tmpfs_bytes: int, code: str = START) -> None:
        self._first = 0
        rules, rules_end = os.pipe()
        self._told, told_end = os.pipe()
        os.set_blocking(self._told, False)
        os.write(rules_end, jail_filter() or b"")
        os.close(rules_end)
        line = [*command(path, jail, tmpfs_bytes, rules, told_end), "-c", code]
        try:
            super().__init__(line, jail.environment, (rules, told_end))
        except BaseException:
            os.close(self._told)
            raise

    def first_process(self) -> int:
        """Gives what bubblewrap told about the jail's first process, which stays in the pipe until somebody asks."""
        if not self._first:
            with contextlib.suppress(OSError):
                told = os.read(self._told, 4096).decode(errors="replace")
                found = re.search(r'"child-pid": (\d+)', told)
                self._first = int(found[1]) if found else 0
        return self._first

    def end(self) -> None:
        """See :class:`JailProcess`."""
        super().end()
        os.close(self._told)
