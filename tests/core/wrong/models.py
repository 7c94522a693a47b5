"""Models with one fault each, and the test of their suite that is meant for it."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import ClassVar

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from kgot_core.testing.model_suite import SECRET, ModelSuite
from kgot_core.testing.scripted_model import Say, ScriptedModel


class Model(ScriptedModel):
    meant: ClassVar[str] = ""

    def __init__(self, script=None, **settings):
        super().__init__(script or (lambda asked: "Green"), **settings)


class SaysNothing(Model):
    meant: ClassVar[str] = "test_answers_with_text"

    def _generate(self, messages, stop=None, run_manager=None, **arguments):
        return super()._generate(messages, stop, run_manager, **arguments)

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        result = await super()._agenerate(messages, stop, run_manager, **arguments)
        if len(messages) == 2:
            result.generations = [ChatGeneration(message=AIMessage(content=" "))]
        return result


class CountsNoTokens(Model):
    meant: ClassVar[str] = "test_tells_what_it_used"

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        result = await super()._agenerate(messages, stop, run_manager, **arguments)
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return ChatResult(generations=result.generations, llm_output={"token_usage": usage})


class CallsWhatIsNotOffered(Model):
    meant: ClassVar[str] = "test_takes_tools"

    def __init__(self):
        super().__init__(lambda asked: Say("", [("search", {})]) if asked.tools else "Green")


class OneAtATime(Model):
    meant: ClassVar[str] = "test_answers_side_by_side"
    busy: ClassVar[list[int]] = []

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        if "(" in messages[-1].content:
            self.busy.append(1)
            await asyncio.sleep(0)
            if len(self.busy) > 1:
                raise RuntimeError("busy")
        return await super()._agenerate(messages, stop, run_manager, **arguments)


class TriesAgainItself(Model):
    meant: ClassVar[str] = "test_has_no_retries_of_its_own"
    max_retries: int = 6


class ShowsItsKey(Model):
    meant: ClassVar[str] = "test_shows_no_secret"
    api_key: str = ""

    def __init__(self):
        super().__init__(api_key=SECRET)


class GivesOneSample(Model):
    meant: ClassVar[str] = "test_gives_several_samples"

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        if arguments.get("n", 1) > 1 or getattr(self, "_asked_for_more", False) or "0.7" in str(arguments):
            raise NotImplementedError("this model gives one sample")
        return await super()._agenerate(messages, stop, run_manager, **arguments)


_suites = runpy.run_path(str(Path(__file__).with_name("suites.py")))
FAULTS = _suites["of_classes"](globals(), {"model": (ModelSuite, Model)})
