"""Recognises an answer that says that it is none: "I do not know"."""

from __future__ import annotations

import re

LONGEST = 120
# The whole answer, and nothing but it: a title or a saying that begins alike goes on, and stays an answer.
_UNKNOWN = re.compile(
    r"""
    (?: (?:i['’]m\ |i\ am\ )? sorry \W+ (?:but\ )? )?
    (?:
        i\ (?:really\ )? (?:do\ not|don['’]?t|cannot|can\ not|can['’]t) \ (?:know|say|tell|answer|determine)
        (?: \ (?:it|this|that|so|the\ answer|the\ question|for\ sure|for\ certain) )?
        (?: \ (?:based\ on|from|given|with) \ the\ (?:given\ |available\ |knowledge\ )? (?:graph|information) )?
      | the\ (?:knowledge\ )?graph\ (?:does\ not|doesn['’]t) \ (?:say|tell|hold|contain|include|have|provide)
        (?: \ (?:it|this|that|the\ answer|enough\ information|(?:this|that|the)\ information) )?
      | (?:the\ )?answer\ is\ (?:not\ known|unknown)
    )
    [\ .!]*
    """,
    re.IGNORECASE | re.VERBOSE,
)


def says_unknown(answer: str) -> bool:
    """Tells whether a whole answer says only that it is not known.

    It errs on the side of an answer: one word such as "unknown", and anything that goes on, may be what was asked for.
    """
    text = " ".join(answer.split()).strip("*_`\"'“” ")
    return len(text) <= LONGEST and _UNKNOWN.fullmatch(text) is not None
