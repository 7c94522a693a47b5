"""A question answered by a model from a page, long ones read in parts."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import ToolContext
from kgot_core.errors import ContextOverflow
from kgot_tools_web.prompts import fill
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.reading.windows import windows
from kgot_tools_web.search.index import Index
from kgot_tools_web.settings import WebSettings

_NOTHING = "NOTHING"
_SMALLEST = 800


async def answer(context: ToolContext, page: Page, question: str, settings: WebSettings) -> str:
    """Answers a question from a page.

    Raises:
        ModelError: The model cannot be asked.
    """
    if not page.text.strip():
        return "The page holds no text, so nothing can be answered from it."
    every = windows(page.text, settings.question_tokens * 4)
    chosen = _chosen(every, question, settings.question_parts)
    if len(every) == 1:
        return await _ask(context, "answer_page", page, question, every[0])
    notes = []
    for number in chosen:
        reply = await _ask(context, "note_page", page, question, every[number], f"{number + 1} of {len(every)}")
        notes += [tagged("notes", reply, part=str(number + 1))] if _says_something(reply) else []
    left_out = len(every) - len(chosen)
    remark = f"\n\n[{left_out} of {len(every)} parts of the page were not read]" if left_out else ""
    if not notes:
        return "Nothing that was read on the page helps to answer the question." + remark
    told = fill("answer_notes", content="\n".join(notes), question=question, title=page.title or page.url)
    return await context.answer(told) + remark


async def summary(context: ToolContext, page: Page, question: str, settings: WebSettings) -> str:
    """Sums a whole page up, in parts that are merged, with what matters for a question first.

    Raises:
        ModelError: The model cannot be asked.
    """
    return await answer(context, page, fill("summary_wish", question=question), settings)


def _chosen(every: Sequence[str], question: str, most: int) -> list[int]:
    if len(every) <= most:
        return list(range(len(every)))
    with Index(("", text) for text in every) as index:
        best = index.best(question, most)
    # The beginning of a page says what it is about.
    order = dict.fromkeys([0, *best, *range(len(every))])
    return sorted(list(order)[:most])


async def _ask(context: ToolContext, prompt: str, page: Page, question: str, text: str, part: str = "") -> str:
    content = tagged("page", text, url=page.url, title=page.title, part=part)
    try:
        return await context.answer(fill(prompt, content=content, question=question))
    except ContextOverflow:
        if len(text) < _SMALLEST:
            raise
    # The model has less room than was thought: the same in halves, one after the other.
    replies = [
        await _ask(context, "note_page", page, question, half, part) for half in windows(text, len(text) // 2 + 1)
    ]
    told = "\n".join(tagged("notes", reply) for reply in replies if _says_something(reply))
    if prompt == "note_page":
        return told or _NOTHING
    return await context.answer(
        fill(
            "answer_notes",
            content=told or "(no part holds anything on it)",
            question=question,
            title=page.title,
        )
    )


def _says_something(reply: str) -> bool:
    return bool(reply.strip()) and reply.strip().strip(".*").upper() != _NOTHING
