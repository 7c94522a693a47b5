"""Recognises the one word a decision consists of, SOLVE or ENHANCE, in the lines of a reply."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["solve", "enhance"]

WORDS: dict[str, Verdict] = {"solve": "solve", "retrieve": "solve", "enhance": "enhance", "insert": "enhance"}
_WORD = re.compile(r"(?<![\w-])(solve|retrieve|enhance|insert)(?![\w-])", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:(?:my|the|our|your|final|next)\s+){0,2}"
    r"(?:decision|verdict|next[ _]step|step|choice|vote|query[ _]type|action|answer|result|output|reply)"
    r"(?:\s+(?:is|would be))?\s*[:=\-–—]?\s*",
    re.IGNORECASE,
)
_CHOOSING = re.compile(
    r"\b(?:decision|verdict|vote|choice|choose|chose|decide|pick|select|option|next step|go with|answer is|reply is)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|neither|nor|unable|without|before|instead of|rather than|until|or)\b|n['’]t\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\s+(?:is|are|was|can|cannot|could|would|may|might|must|should|does|do|will|needs?|requires?|or|and|vs)\b",
    re.IGNORECASE,
)
_DECORATION = "*_#>`~\"'“”‘’[](){}<>|-+•·\t \u00a0"
_CORRECTION = re.compile(r"\b(?:actually|wait|rather|sorry|no|correction|instead)\b", re.IGNORECASE)
_JOINT = re.compile(r"[,;:]|\b(?:so|therefore|thus|hence|because|since|as)\b", re.IGNORECASE)
_LONGEST_LINE = 2_000


def strong_verdict(line: str) -> tuple[Verdict, str] | None:
    """Reads a line that begins with the word, after a label or decoration at most.

    Returns:
        The verdict and what follows the word on its line; ``None`` where the line does not state a verdict, or
        not clearly.
    """
    text = _plain(line)
    label = _LABEL.match(text)
    labelled = bool(label and label.end() and text[label.end() :].strip(_DECORATION))
    if label and labelled:
        text = text[label.end() :].lstrip(_DECORATION)
    word = _WORD.match(text)
    if word is None:
        return None
    rest = text[word.end() :]
    tail = rest.lstrip("*_`\"'”’])")
    capitals = word.group().isupper()
    if tail and tail[0] not in ".,;:!?–—-=/\n" and tail[0] != " ":
        return None
    goes_on = tail.startswith(" ") and tail.strip()[:1] not in {"-", "–", "—", "(", ":", ""}
    common = word.group().lower() in {"insert", "retrieve"}
    if goes_on and (common or _VERB.match(tail) or not (capitals or labelled)):
        return None
    if tail.strip()[:1] in {"/", "|", "?"} or _turns(WORDS[word.group().lower()], tail):
        return None
    return WORDS[word.group().lower()], tail.strip(_DECORATION + ".,;:!–—=").strip()


def sentence_verdict(line: str) -> Verdict | None:
    """Reads a first sentence that names one verdict only, in capitals or as a choice, and denies nothing."""
    text = _plain(line)
    sentence = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
    words = list(_WORD.finditer(sentence))
    kinds = {WORDS[word.group().lower()] for word in words}
    if len(kinds) != 1 or sentence.rstrip(_DECORATION).endswith("?"):
        return None
    if any(_NEGATION.search(_clause(sentence, word.start())) for word in words):
        return None
    if any(word.group() in {"SOLVE", "ENHANCE"} for word in words):
        return kinds.pop()
    first = words[0]
    after = sentence[first.end() :].strip(_DECORATION + ".!,")
    if _CHOOSING.search(sentence[: first.start()]) and not after:
        return kinds.pop()
    return None


def names_both(line: str) -> bool:
    """Tells whether a line holds both words in capitals, so that its verdict is open."""
    text = line[:_LONGEST_LINE]
    return re.search(r"\bSOLVE\b", text) is not None and re.search(r"\bENHANCE\b", text) is not None


def _plain(line: str) -> str:
    text = line[:_LONGEST_LINE].strip()
    text = re.sub(r"^\d{1,2}[.)]\s+", "", text)
    return text.lstrip(_DECORATION).replace("**", "").replace("__", "")


def _clause(sentence: str, at: int) -> str:
    """Gives the part of a sentence that a place stands in, between commas and words such as ``so``."""
    begin = max((mark.end() for mark in _JOINT.finditer(sentence, 0, at)), default=0)
    end = _JOINT.search(sentence, at)
    return sentence[begin : end.start() if end else len(sentence)]


def _turns(verdict: Verdict, tail: str) -> bool:
    """Tells whether the rest of the line takes the word back for the other one."""
    for word in re.finditer(r"\b(SOLVE|ENHANCE)\b", tail):
        if WORDS[word.group().lower()] == verdict:
            continue
        before = tail[max(0, word.start() - 30) : word.start()]
        if _CORRECTION.search(before) or re.fullmatch(r"\W*(?:or|and)?\W*", tail[: word.start()], re.IGNORECASE):
            return True
    return False
