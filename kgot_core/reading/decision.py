"""Reads a decision: the word SOLVE or ENHANCE, a reason, and for Solve the query or the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kgot_core.errors import Unreadable
from kgot_core.graph.values import JsonValue
from kgot_core.reading.basis import read_basis
from kgot_core.reading.blocks import Block, read_parts
from kgot_core.reading.json_reader import read_json
from kgot_core.reading.reasoning import ends_in_reasoning, strip_reasoning
from kgot_core.reading.verdicts import WORDS, Verdict, names_both, sentence_verdict, strong_verdict

_VERDICT_KEYS = ("decision", "query_type", "verdict", "next_step", "vote", "choice", "action")
_REASON_KEYS = ("reason", "reasons", "reasoning", "explanation", "rationale", "why", "missing")
_QUERY_KEYS = ("query", "queries", "statement", "cypher", "sparql", "code", "retrieve_query", "payload")
_ANSWER_KEYS = ("answer", "solution", "result", "value", "payload")
_QUERY_LANGUAGES = frozenset({"cypher", "sparql", "python", "py", "networkx", "sql", "query"})
_QUERY_START = re.compile(
    r"(?:MATCH|OPTIONAL MATCH|UNWIND|CALL|PREFIX|SELECT|ASK|CONSTRUCT)\b|(?:WITH|RETURN) \S|(?:result|import)\b ?[=\w]"
)
_REASON_LABEL = re.compile(
    r"^[\s*_#>-]*(?:reason(?:ing)?|explanation|why|because)\s*[*_]*\s*[:\-–—]\s*[*_]*", re.IGNORECASE
)
_ANSWER_LABEL = re.compile(r"^[\s*_#>-]*(?:(?:the|final)\s+)?(?:answer|query)\s*[*_]*\s*[:=]\s*[*_]*", re.IGNORECASE)
_HEADING = re.compile(
    r"\W*(?:(?:my|the|final|cypher|sparql|python)\s+)?(?:decision|verdict|query|answer|reason|code)\W*$", re.IGNORECASE
)
_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s+")
_SHORT = 400


@dataclass(frozen=True, slots=True)
class Decision:
    """What one sample decided.

    Attributes:
        verdict: ``solve`` or ``enhance``.
        reason: Why, or what is missing; may be empty.
        payload: For ``solve`` the query, which may be empty, or the answer.
        basis: Names of the elements that an answer rests on, as the model gave them.
    """

    verdict: Verdict
    reason: str
    payload: str = ""
    basis: tuple[str, ...] = ()


def read_decision(text: str, form: Literal["query", "direct"], *, cut: bool = False) -> Decision:
    """Reads a reply to the request for a decision.

    Args:
        text: The reply.
        form: What a Solve brings: a query, or the answer itself.
        cut: The reply was cut off by a token limit.

    Raises:
        Unreadable: There is no verdict, there are two, or a direct Solve has no answer.
    """
    stripped = strip_reasoning(text)
    if not stripped:
        late = ends_in_reasoning(text) or cut
        what = "was cut off (truncated) within its reasoning" if late and text.strip() else "is empty"
        raise Unreadable(f"the reply {what}; expected SOLVE or ENHANCE", truncated=late and bool(text.strip()))
    parts = read_parts(stripped)
    lines = [line for part in parts if not isinstance(part, Block) for line in part.text.split("\n")]
    blocks = [part for part in parts if isinstance(part, Block) and part.text.strip()]
    if cut and blocks and not blocks[-1].closed:
        raise Unreadable("the reply was cut off (truncated) within its fenced block", truncated=True)
    data_first = stripped[:1] in {"{", "["} or not any(strong_verdict(line) for line in lines)
    if data_first and (data := _read_data(stripped, form)) is not None:
        return data
    if blocks and not any(strong_verdict(line) for line in lines):
        first = next((line for line in blocks[0].text.split("\n") if line.strip()), "")
        if strong_verdict(first):
            lines, blocks = [*lines, *blocks[0].text.split("\n")], blocks[1:]
    return _read_lines(lines, blocks, form, cut)


def _read_lines(lines: list[str], blocks: list[Block], form: str, cut: bool) -> Decision:
    basis, lines = read_basis(lines)
    found = [(number, read) for number, line in enumerate(lines) if (read := strong_verdict(line))]
    kinds = {read[0] for _, read in found}
    if len(kinds) > 1:
        raise Unreadable("the reply says both SOLVE and ENHANCE; expected one of them as the first line")
    if found:
        number, (verdict, rest) = found[0]
        said = {position for position, _ in found}
        spoken = [line for position, line in enumerate(lines) if position not in said]
        spoken = [*spoken[:number], rest, *spoken[number:]]
    else:
        first = next((line for line in lines if line.strip()), "")
        verdict_read = sentence_verdict(first)
        if verdict_read is None:
            both = any(names_both(line) for line in lines)
            what = "it is not clear which of SOLVE and ENHANCE is meant" if both else "there is no SOLVE or ENHANCE"
            raise Unreadable(f"{what}; expected the one word as the first line of the reply")
        verdict, spoken = verdict_read, lines
    if verdict == "enhance":
        return Decision("enhance", _reason(spoken))
    if cut and form == "direct" and not blocks:
        raise Unreadable("the reply was cut off (truncated) before its answer was complete", truncated=True)
    return _solve(spoken, blocks, basis, form)


def _solve(spoken: list[str], blocks: list[Block], basis: tuple[str, ...], form: str) -> Decision:
    if form == "query":
        fitting = [block for block in blocks if block.language in _QUERY_LANGUAGES] or blocks
        if fitting:
            return Decision("solve", _reason(spoken), fitting[0].text.strip(), basis)
        begin = next((at for at, line in enumerate(spoken) if _QUERY_START.match(_bare(line))), len(spoken))
        return Decision(
            "solve", _reason(spoken[:begin]), "\n".join(_bare(line) for line in spoken[begin:]).strip(), basis
        )
    if blocks:
        inner, kept = read_basis(blocks[0].text.split("\n"))
        for block in blocks[1:]:
            inner += read_basis(block.text.split("\n"))[0]
        answer = "\n".join(kept).strip()
        if answer:
            return Decision("solve", _reason(spoken), _ANSWER_LABEL.sub("", answer).strip(), basis + inner)
        basis += inner
    labelled = [at for at, line in enumerate(spoken) if _ANSWER_LABEL.match(line)]
    if labelled:
        others = [line for at, line in enumerate(spoken) if at != labelled[0]]
        answer = _bare(spoken[labelled[0]])
        return Decision("solve", _reason(others), _needed(answer or _reason(others)), basis)
    answer = "\n".join(line.strip() for line in spoken if line.strip())
    return Decision("solve", "", _needed(_REASON_LABEL.sub("", answer)), basis)


def _needed(answer: str) -> str:
    if not answer:
        raise Unreadable("SOLVE came without an answer; expected the answer in a fenced block")
    if len(answer) > _SHORT:
        raise Unreadable("it is not clear what the answer is; expected it in a fenced block")
    return answer


def _bare(line: str) -> str:
    return _ANSWER_LABEL.sub("", line).strip().strip("`").strip()


def _reason(lines: list[str]) -> str:
    said = [_REASON_LABEL.sub("", _NUMBER.sub("", line)).strip(" *_#>") for line in lines if not _HEADING.match(line)]
    return " ".join(" ".join(line.split()) for line in said if line)


def _read_data(text: str, form: str) -> Decision | None:
    """Reads a decision given as a JSON object; ``None`` where the reply is none."""
    if "{" not in text:
        return None
    try:
        value = read_json(text, keys=_VERDICT_KEYS)
    except Unreadable as error:
        named = any(f'"{key}"' in text or f"'{key}'" in text for key in _VERDICT_KEYS)
        if named or (error.truncated and text[0] in "{["):
            raise
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise Unreadable("expected one JSON object with a decision")
    word = _first(value, _VERDICT_KEYS).strip()
    verdict = WORDS.get(word.lower()) or (read[0] if (read := strong_verdict(word)) else None)
    if verdict is None:
        raise Unreadable(f"the decision {word[:40]!r} is neither SOLVE nor ENHANCE")
    reason = " ".join(_first(value, _REASON_KEYS).split())
    if verdict == "enhance":
        return Decision("enhance", reason)
    payload = _first(value, _QUERY_KEYS if form == "query" else _ANSWER_KEYS).strip()
    if form == "direct" and not payload:
        raise Unreadable("SOLVE came without an answer; expected the answer in a fenced block")
    basis, _ = read_basis([f"BASIS: {_joined(value.get('basis') or value.get('BASIS') or '', ' | ')}"])
    return Decision("solve", reason, payload, basis)


def _first(value: Mapping[str, JsonValue], names: tuple[str, ...]) -> str:
    for name in names:
        if value.get(name) not in (None, "", []):
            return _joined(value[name], "\n")
    return ""


def _joined(value: JsonValue, by: str) -> str:
    if isinstance(value, list):
        return by.join(_joined(item, by) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, dict) else str(value)
