"""The sandboxes of slots: a run that holds a slot gets one that nobody has used, and the next is made meanwhile.

What a script did to a sandbox cannot be undone for certain, so no two runs have the same one.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TypeAlias

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError

MOST_KINDS = 3
"""For how many ways in which runs open a sandbox some are kept ready."""
_PROBE = CodeJob("1 + 1", after="1 + 1")
_Kind: TypeAlias = tuple[Prelude, SandboxLimits]


class SlotSandboxes(Sandbox):
    """Opens sessions of a sandbox ahead of the runs that want them, on a thread of its own.

    As many are kept ready as runs held a slot at once so far. One is tried with a small script before a run gets it,
    and all that wait are tried now and then; a broken one is ended, and another takes its place.

    Args:
        sandbox: The sandbox.
        limits: The limits of the session that every run opens.
        check_seconds: From one trial of the sessions that wait to the next.
    """

    def __init__(self, sandbox: Sandbox, limits: SandboxLimits, check_seconds: float) -> None:
        self.name, self.python, self.about = sandbox.name, sandbox.python, sandbox.about
        self.pip_options = sandbox.pip_options
        self._sandbox, self._check_seconds = sandbox, check_seconds
        self._ready: dict[_Kind, list[SandboxSession]] = {(Prelude(), limits): []}
        self._wanted = 0
        self._failed: set[_Kind] = set()
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._make_ahead, daemon=True, name="kgot-slot-sandboxes")
        self._thread.start()

    def expect(self, runs: int) -> None:
        """Takes in how many runs hold a slot just now."""
        with self._changed:
            self._wanted = max(self._wanted, runs)
            self._failed.clear()
            self._changed.notify_all()

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Gives a session that nobody has used: one that is ready, else a new one.

        Raises:
            SandboxError: None is ready, and none can be opened.
        """
        kind = (prelude, limits)
        while (session := self._taken(kind)) is not None:
            if _works(session):
                return session
            _end(session)
        return self._sandbox.open(prelude, limits)

    def close(self) -> None:
        """Ends all sessions that no run has taken. Idempotent."""
        with self._changed:
            self._closed = True
            left = [session for waiting in self._ready.values() for session in waiting]
            self._ready.clear()
            self._changed.notify_all()
        for session in left:
            _end(session)
        self._thread.join()

    def _taken(self, kind: _Kind) -> SandboxSession | None:
        with self._changed:
            # Packages are those of one run, so nobody else will want that kind.
            if kind not in self._ready and kind[0].packages is None and len(self._ready) < MOST_KINDS:
                self._ready[kind] = []
            waiting = self._ready.get(kind)
            self._changed.notify_all()
            return waiting.pop(0) if waiting else None

    def _make_ahead(self) -> None:
        while True:
            with self._changed:
                asked = self._changed.wait_for(lambda: self._closed or self._lacking() is not None, self._check_seconds)
                if self._closed:
                    return
                kind = self._lacking()
            if not asked or kind is None:
                self._try_waiting()
                continue
            try:
                session = self._sandbox.open(*kind)
            except Exception:  # a plugin's too; the run that wants one opens it itself, and hears why it cannot
                with self._changed:
                    self._failed.add(kind)
                continue
            self._keep(kind, session)

    def _lacking(self) -> _Kind | None:
        lacking = (kind for kind, waiting in self._ready.items() if len(waiting) < self._wanted)
        return next((kind for kind in lacking if kind not in self._failed), None)

    def _try_waiting(self) -> None:
        with self._changed:
            waiting = [(kind, session) for kind, sessions in self._ready.items() for session in sessions]
        for kind, session in waiting:
            with self._changed:
                # Only what is out of the others' reach may be tried: a run must get one that does nothing.
                if session not in self._ready.get(kind, ()):
                    continue
                self._ready[kind].remove(session)
            if _works(session):
                self._keep(kind, session)
            else:
                _end(session)
        with self._changed:
            self._failed.clear()

    def _keep(self, kind: _Kind, session: SandboxSession) -> None:
        with self._changed:
            late = self._closed
            if not late:
                self._ready[kind].append(session)
        if late:
            _end(session)


def _works(session: SandboxSession) -> bool:
    try:
        return session.run(_PROBE).value == 2
    except SandboxError:
        return False


def _end(session: SandboxSession) -> None:
    # What cannot be ended any more has ended.
    with contextlib.suppress(Exception):
        session.close()
