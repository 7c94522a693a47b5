"""The loop of the Surfer: plan, act, look, plan again, report (paper, B.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from kgot_core.contracts.model import ToolCallRequest, system, user
from kgot_core.contracts.tools import ToolContext
from kgot_core.errors import ContextOverflow, KgotError
from kgot_tools_web.prompts import fill
from kgot_tools_web.session import WebSession
from kgot_tools_web.surfer.actions import ACTIONS, FINAL, OUTSIDE
from kgot_tools_web.surfer.memory import Memory, Seen, Step, action_text, note_of
from kgot_tools_web.surfer.report import Report, report
from kgot_tools_web.surfer.walking import Walk

MOST_AT_ONCE = 6
_NAMES = tuple(spec.name for spec in ACTIONS)


class Surfer:
    """Finds something out on the web.

    Args:
        session: The run's session.
        context: What a tool may use; its model has the role ``tool``.
        task: What is to be found, as a complete question.
    """

    def __init__(self, session: WebSession, context: ToolContext, task: str) -> None:
        self._session = session
        self._context = context
        self._task = task
        self._memory = Memory()
        self._walk = Walk(session, context, task)
        self._silent = 0

    async def run(self) -> Report:
        """Goes on until the model reports, or the steps are used up.

        Raises:
            ModelError: The model cannot be asked.
        """
        settings = self._session.settings
        self._memory.planned(await self._asked("surfer_plan"))
        for number in range(1, settings.steps + 1):
            if number > 1 and (number - 1) % settings.replan == 0:
                self._memory.planned(await self._asked("surfer_replan", left=str(settings.steps - number + 1)))
            calls, note = await self._step(settings.steps - number + 1)
            final = next((call for call in calls if call.name == FINAL), None)
            if final is not None and str(final.arguments.get("answer", "")).strip():
                return report(final.arguments, self._walk)
            if not calls and self._silent > 1:
                # It has been told how to act, and writes again instead: that is its report.
                return report({"answer": note}, self._walk)
            self._memory.steps.append(Step(number, note, await self._do(number, calls)))
        told = await self._asked("surfer_report")
        return report({"answer": f"{told}\n\n[The {settings.steps} steps were used up.]"}, self._walk)

    async def _step(self, left: int) -> tuple[Sequence[ToolCallRequest], str]:
        rules = system(fill("surfer_rules"))
        slots = {"task": self._task, "plan": self._memory.plan, "log": self._memory.log(), "left": str(left)}
        try:
            request = [rules, user(fill("surfer_step", seen=self._memory.seen(), **slots))]
            reply = await self._context.ask(request, role="tool", tools=ACTIONS)
        except ContextOverflow:
            # What was seen is too much: a plan takes its place, and only the log is told.
            self._memory.planned(await self._asked("surfer_replan", left=str(left)))
            request = [
                rules,
                user(fill("surfer_step", seen=self._memory.seen(), **{**slots, "plan": self._memory.plan})),
            ]
            reply = await self._context.ask(request, role="tool", tools=ACTIONS)
        said = reply.completions[0]
        known = [call for call in said.tool_calls if call.name in _NAMES]
        self._silent = 0 if known else self._silent + 1
        return known[:MOST_AT_ONCE], said.text.strip() if not known else note_of(said.text)

    async def _do(self, number: int, calls: Sequence[ToolCallRequest]) -> list[tuple[str, Seen]]:
        """Does the actions of one step: what reaches outside at once, then each in its order."""
        if not calls:
            return [("no action", Seen("call one of the tools; final_answer ends with your report", failed=True))]
        fetched = await asyncio.gather(
            *(self._fetch(f"step-{number}-{place}", call) for place, call in enumerate(calls))
        )
        done = []
        for call, found in zip(calls, fetched, strict=True):
            try:
                if isinstance(found, KgotError):
                    raise found
                arguments = dict(call.arguments)
                seen = (
                    await self._walk.look(call.name, arguments)
                    if found is None
                    else await self._walk.show(number, call.name, found)
                )
            except ContextOverflow:
                seen = Seen("the page is too long for the model", failed=True)
            except KgotError as error:
                seen = Seen(f"failed: {error}", failed=True)
            done.append((action_text(call.name, call.arguments), seen))
        return done

    async def _fetch(self, key: str, call: ToolCallRequest) -> Any:
        if call.name not in OUTSIDE:
            return None
        try:
            return await self._walk.fetch(key, call.name, dict(call.arguments))
        except KgotError as error:
            return error

    async def _asked(self, prompt: str, **slots: str) -> str:
        """Asks for a plan or a report; where all that was seen does not fit, from the log alone."""
        slots |= {"task": self._task, "plan": self._memory.plan or "(none yet)", "log": self._memory.log()}
        try:
            return await self._context.answer(fill(prompt, seen=self._memory.seen(), **slots))
        except ContextOverflow:
            short = self._memory.seen()
            return await self._context.answer(fill(prompt, seen=short[: len(short) // 4], **slots))
