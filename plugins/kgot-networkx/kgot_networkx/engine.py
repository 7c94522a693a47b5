"""Runs scripts on the graph inside a sandbox: a warm worker that keeps the graph, or one that gets it each time."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kgot_core.contracts.backend import Call
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import QueryError, SandboxError, StoreUnavailable
from kgot_core.graph.values import JsonValue
from kgot_networkx.jail.rows import KG_UNSET
from kgot_networkx.jail.values import KG_STALE
from kgot_networkx.outcome import failed
from kgot_networkx.prelude import full_prelude, subset_prelude
from kgot_networkx.script import LAST, Script
from kgot_networkx.settings import NetworkxSettings
from kgot_networkx.subset_state import subset_state

State = Callable[[], dict[str, JsonValue]]

_TRIES = 3


@dataclass(frozen=True)
class Report:
    """What a writing script did; ``version`` is the state that the worker has now."""

    change: JsonValue
    version: int


class Engine(ABC):
    """One sandbox session with a graph.

    Args:
        sandbox: Where scripts run.
        settings: Limits.
        state: Gives the whole graph, to fill a sandbox that has lost it.
    """

    def __init__(self, sandbox: Sandbox, settings: NetworkxSettings, state: State) -> None:
        self._settings = settings
        self._state = state
        self._python = sandbox.python
        prelude = full_prelude() if sandbox.python == "full" else subset_prelude()
        self._session: SandboxSession = sandbox.open(prelude, self._limits(settings.load_seconds))

    @abstractmethod
    def write(self, script: Script, call: Call) -> Report:
        """Runs a writing script; the host has to :meth:`accept` or refuse what it reports."""

    @abstractmethod
    def query(self, script: Script, call: Call) -> CodeResult:
        """Runs a reading script; its value is what ``kg_rows`` gives."""

    @abstractmethod
    def accept(self, version: int) -> None:
        """The host has folded the report with this version."""

    @abstractmethod
    def changed(self, change: dict[str, JsonValue]) -> None:
        """The host has folded a change that did not come from a script."""

    def cancel(self) -> None:
        """Ends a running script; called from another thread."""
        self._session.cancel()

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    def _limits(self, seconds: float) -> SandboxLimits:
        return SandboxLimits(
            seconds=seconds, memory_mb=self._settings.memory_mb, output_chars=self._settings.output_chars
        )

    def _checked(self, result: CodeResult) -> CodeResult:
        error = failed(result, self._python)
        if error is not None:
            raise error
        return result


class FullEngine(Engine):
    """Full Python: the worker keeps the graph; a job that meets another version of it is run again after a refill."""

    def __init__(self, sandbox: Sandbox, settings: NetworkxSettings, state: State) -> None:
        super().__init__(sandbox, settings, state)
        self._version = self._newest = 0
        self._waiting: list[dict[str, JsonValue]] = []

    def write(self, script: Script, call: Call) -> Report:
        """See :class:`Engine`."""
        self._newest += 1
        version = self._newest
        result = self._run(
            lambda: CodeJob(
                script.code,
                before=self._begin(),
                after=f"_kgot.report(G, {script.unusual})",
                commit=f"_kgot.commit(value, {version})",
                limits=self._limits(call.seconds),
            )
        )
        return Report(result.value, version)

    def query(self, script: Script, call: Call) -> CodeResult:
        """See :class:`Engine`."""
        return self._run(
            lambda: CodeJob(
                script.code,
                before=f"{self._begin()}; result = {LAST} = {KG_UNSET!r}",
                after=f"_kgot.rows(result, {LAST}, {call.rows})",
                limits=self._limits(call.seconds),
            )
        )

    def accept(self, version: int) -> None:
        """See :class:`Engine`."""
        self._version = version

    def changed(self, change: dict[str, JsonValue]) -> None:
        """See :class:`Engine`; the worker gets it with the next script."""
        self._waiting.append(change)

    def _begin(self) -> str:
        return f"G = _kgot.begin({self._version})"

    def _run(self, job: Callable[[], CodeJob]) -> CodeResult:
        """Runs a job made for the worker's version; gives the worker the graph anew where it was lost."""
        refilled = False
        for _ in range(_TRIES):
            try:
                if self._waiting:
                    self._load(self._waiting)
                result = self._session.run(job())
            except SandboxError as error:
                # The session starts a new worker with the next job. A script that ends each of them is at fault.
                if refilled:
                    raise QueryError(f"the script ended the sandbox it ran in: {error.message}") from None
                self._refill(error)
                refilled = True
                continue
            if KG_STALE not in result.error:
                return self._checked(result)
            self._refill(None)
            refilled = True
        raise StoreUnavailable("the sandbox does not keep the graph")

    def _refill(self, cause: SandboxError | None) -> None:
        try:
            self._load([self._state()])
        except SandboxError as error:
            reason = cause.message if cause is not None else error.message
            raise StoreUnavailable(f"the sandbox was lost and cannot be filled again: {reason}") from None

    def _load(self, changes: list[dict[str, JsonValue]]) -> None:
        self._newest += 1
        text = json.dumps(changes, separators=(",", ":"))
        commit = f"_kgot.load({text!r}, {self._version}, {self._newest})"
        result = self._session.run(CodeJob("", commit=commit, limits=self._limits(self._settings.load_seconds)))
        if KG_STALE in result.error:
            raise SandboxError("the sandbox holds an older graph")
        self._checked(result)
        self._waiting = []
        self._version = self._newest


class SubsetEngine(Engine):
    """A subset of Python: each job gets the whole graph, as JSON text, and gives its change back."""

    def __init__(self, sandbox: Sandbox, settings: NetworkxSettings, state: State) -> None:
        super().__init__(sandbox, settings, state)
        self._text = ""

    def write(self, script: Script, call: Call) -> Report:
        """See :class:`Engine`."""
        return Report(self._run(script, call, "", "kg_change(kg_first, G)").value, 0)

    def query(self, script: Script, call: Call) -> CodeResult:
        """See :class:`Engine`."""
        return self._run(
            script,
            call,
            f"result = {LAST} = {KG_UNSET!r}",
            f"kg_query(kg_first, kg_state, result, {LAST}, {call.rows})",
        )

    def accept(self, version: int) -> None:
        """See :class:`Engine`."""
        self._text = ""

    def changed(self, change: dict[str, JsonValue]) -> None:
        """See :class:`Engine`."""
        self._text = ""

    def _run(self, script: Script, call: Call, before: str, after: str) -> CodeResult:
        self._text = self._text or subset_state(self._state())
        job = CodeJob(
            script.code,
            inputs={"kg_state": self._text},
            before=f"nx = KgNetworkx()\nG = kg_first = kg_graph(kg_state)\n{before}",
            after=after,
            limits=self._limits(call.seconds),
        )
        try:
            result = self._session.run(job)
        except SandboxError:
            # The worker was lost with some other job, or by this one; it holds nothing that matters.
            try:
                result = self._session.run(job)
            except SandboxError as error:
                raise StoreUnavailable(f"the sandbox cannot run a script: {error.message}") from None
        return self._checked(result)


def open_engine(sandbox: Sandbox, settings: NetworkxSettings, state: State) -> Engine:
    """Opens the engine that fits a sandbox."""
    kind: type[Any] = FullEngine if sandbox.python == "full" else SubsetEngine
    engine: Engine = kind(sandbox, settings, state)
    return engine
