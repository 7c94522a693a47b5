"""Shows a batch while it runs: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from kgot_core.batch.status import BatchReader
from kgot_core.cli.batch_lines import record_line, state_lines
from kgot_core.errors import KgotError
from kgot_core.graph.visible import visible

REFRESH_SECONDS = 1.0


class BatchView:
    """What one process shows of its batch. The first one shows all of them, from their files.

    Args:
        folder: The batch's folder.
        stream: Where to write, usually standard error.
        live: The stream is a terminal.
        quiet: Show nothing.
    """

    def __init__(self, folder: Path, stream: TextIO, live: bool, quiet: bool) -> None:
        self._quiet = quiet
        self._folder = folder
        self._stream = stream
        self._is_live = live
        self._live: Any = None
        self._reader = BatchReader(folder)
        self._done = 0
        self._of = 0
        self._ranks = 1
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, rank: int, ranks: int, tasks: int, pending: int) -> None:
        """Says how many tasks there are, and begins the live view.

        Args:
            rank: Which process this is.
            ranks: How many there are.
            tasks: How many tasks the batch has.
            pending: How many of them are to be run.
        """
        self._of, self._ranks = pending, ranks
        if rank:
            return
        done = f", {tasks - pending} of them done before" if pending < tasks else ""
        self._write(f"{tasks} tasks{done}; kgot status {self._folder} tells how they are")
        if self._is_live and pending and not self._quiet:
            self._begin_live()

    def record(self, row: Mapping[str, Any]) -> None:
        """Shows a task that has ended."""
        self._done += 1
        self._write(record_line(row, self._done, self._of, self._ranks > 1))

    def close(self) -> None:
        """Takes the live view away. Idempotent."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _begin_live(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self._stream, highlight=False)
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._live.start()
        self._thread = threading.Thread(target=self._refresh, daemon=True, name="kgot-batch-view")
        self._thread.start()

    def _refresh(self) -> None:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        while True:
            # A file may just be replaced; the next look will find it.
            with contextlib.suppress(KgotError, OSError, LookupError, ValueError):
                state = self._reader.read()
                bar = Table.grid()
                bar.add_row(ProgressBar(max(1, state.tasks), state.done + state.failed, width=60))
                lines = [Text(visible(line), no_wrap=True, overflow="ellipsis") for line in state_lines(state)]
                self._live.update(Group(bar, *lines), refresh=True)
            if self._ended.wait(REFRESH_SECONDS):
                return

    def _write(self, text: str) -> None:
        if self._quiet:
            return
        if self._live is not None:
            self._live.console.print(visible(text), markup=False)
        else:
            self._stream.write(visible(text) + "\n")
            self._stream.flush()
