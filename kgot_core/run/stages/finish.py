"""The final answer: parsed several times, the majority counted in code (paper, C.3.3 and B.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgot_core.contracts.model import Completion
from kgot_core.contracts.run import Run
from kgot_core.contracts.solver import Candidate
from kgot_core.contracts.task import NO_SOLUTION, Outcome
from kgot_core.contracts.voter import Ballot, Choice, Vote
from kgot_core.reading.blocks import strip_reasoning
from kgot_core.reading.unknown import says_unknown
from kgot_core.run.desks.voting import record
from kgot_core.run.prompting.transcript import shorten
from kgot_core.run.stages.answer_value import NONE, envelope, read_value
from kgot_core.run.stages.evidence import describe
from kgot_core.run.stages.numbers import bare_number, same_number

_MARK = re.compile(
    r"(?im)^[\s>*#`-]*(?P<word>final\s+answer|value|answer)\s*[*`]*\s*:[ \t*`]*(?P<value>.*)$",
)


@dataclass(frozen=True)
class Finished:
    """A whole solution of the task.

    Attributes:
        outcome: What the run ends with, if it is the only one.
        key: Equal for equal answers; ``None`` where there is none that could be voted for.
    """

    outcome: Outcome
    key: str | None


async def finish(run: Run, candidate: Candidate, findings: str, how: str, iterations: int) -> Finished:
    """Turns findings into the answer in the format that was asked for.

    Args:
        run: The run at this step.
        candidate: What the graph gave.
        findings: The candidate's text, with a calculation if one was made.
        how: How the answer came about.
        iterations: Enhance rounds made.
    """
    ballot = await _ballot(run, findings)
    choice = await run.vote(ballot)
    record(run, ballot, choice)
    if choice.key is None:
        # What the graph gave is worth more than nothing: it stands unparsed, and the reason says so.
        if run.options.answer_schema is not None:
            return Finished(Outcome(findings, "failed", how, None, _schema_failure(choice), (), iterations), None)
        text, value, reason = findings, None, "the final parse could not be read; this is what the graph gave"
    elif choice.key == NONE:
        return no_solution("the findings do not answer the task", iterations)
    else:
        text, value = choice.supporting()[0].payload
        reason = f"{choice.counts[choice.key]} of {sum(choice.counts.values())} parses agree"
    evidence = describe(run, candidate.elements)
    outcome = Outcome(text, "answered", how, value, reason, evidence, iterations, choice.agreement)
    return Finished(outcome, choice.key or _normal(text))


def no_solution(reason: str, iterations: int) -> Finished:
    """Gives the end of a run that found no answer."""
    return Finished(Outcome(NO_SOLUTION, "no_solution", reason=reason, iterations=iterations), NONE)


async def _ballot(run: Run, findings: str) -> Ballot:
    schema = run.options.answer_schema
    asked = envelope(schema) if schema is not None else None

    def prompt(tokens: int) -> str:
        slots = {"question": run.task.question, "partial": shorten(findings, tokens)}
        if schema is not None:
            return run.prompt("finish_schema", schema=json.dumps(schema, ensure_ascii=False), **slots)
        return run.prompt(f"finish_{run.options.answer_format}", **slots)

    async def draw(first: int, count: int) -> Sequence[Vote]:
        temperature = run.options.vote_temperature
        reply = await run.ask(f"parses-{first}", "parse", prompt, n=count, temperature=temperature, schema=asked)
        return [_read(run, completion, findings) for completion in reply.completions]

    # Where the agreement decides, a majority that is certain is not enough.
    at_once = run.options.abstain_below > 0 or await run.samples_at_once("at-once", "graph")
    return Ballot("parse", run.options.limits.max_final_solution_parsing, draw, at_once=at_once, basis=findings)


def _read(run: Run, completion: Completion, findings: str) -> Vote:
    text = strip_reasoning(completion.text).strip()
    if not text:
        return Vote(None, "the reply was empty")
    if re.fullmatch(r"\W*none\W*", text, re.IGNORECASE):
        return Vote(NONE)
    if run.options.answer_schema is not None:
        return read_value(text, run.options.answer_schema)
    if completion.truncated:
        # A value is whole where its line has an end; the prose behind it is not, and is left out.
        text = text.rpartition("\n")[0]
        if not _MARK.search(text):
            return Vote(None, "the reply was cut off")
    value, prose = _split(text)
    if not value:
        return Vote(None, "the reply holds no value")
    if value.strip(" .").casefold() == NONE or (says_unknown(value) and value.casefold() not in findings.casefold()):
        return Vote(NONE)
    if run.options.answer_format == "gaia":
        value = bare_number(value)
        return Vote(_normal(value), payload=(value, None), text=value)
    shown = value if completion.truncated else prose or value
    return Vote(_normal(value), payload=(shown, None), text=f"{value}\n{shown}" if shown != value else value)


def _schema_failure(choice: Choice) -> str:
    reasons = [vote.reason for vote in choice.votes if vote.reason]
    return "no reply obeyed the JSON schema" + (f": {reasons[-1]}" if reasons else "")


def _split(text: str) -> tuple[str, str]:
    """Takes the bare value and the sentence apart; a reply without the word VALUE is both."""
    marks = list(_MARK.finditer(text))
    # A model that thinks aloud may write Answer: first; what it was asked for is VALUE:, the last one counts.
    marks = [mark for mark in marks if mark["word"].casefold() == "value"] or marks
    if not marks:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return (lines[0] if len(lines) == 1 else text), text
    said = [mark for mark in marks if mark["value"].strip(" *`")]
    mark = said[-1] if said else marks[-1]
    value = mark["value"].strip().strip("*`").strip()
    if value:
        prose = _MARK.sub(lambda other: "" if other["word"].casefold() == "value" else other["value"], text)
    else:
        prose = text[: mark.start()] + text[mark.end() :]
    prose = prose.replace("```", "").strip()
    if not value and prose:
        value, _, prose = prose.partition("\n")
    return value.strip(), prose.strip().strip("`").strip()


def _normal(value: str) -> str:
    """The same answer written twice counts as one: case, spaces, closing marks, a number's form do not matter."""
    plain = re.sub(r"\s+", " ", same_number(value).casefold()).strip(" .\"'")
    return re.sub(r"\s*,\s*", ", ", plain)
