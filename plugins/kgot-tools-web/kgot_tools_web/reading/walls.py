"""Pages that are no pages: checks for humans, consent walls, logins, and pages that only a script fills."""

from __future__ import annotations

import re

_SHORT = 1_500
_EMPTY = 200
_HUMAN = re.compile(
    r"just a moment|checking your browser|verify(ing)? (that )?you are (a )?human|are you a robot|unusual traffic"
    r"|complete the captcha|enable javascript and cookies|access (to this page has been )?denied|ddos protection",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"(accept|agree|allow|consent)[^.]{0,80}(cookie|privacy)|(cookie|privacy)[^.]{0,80}(accept|agree|consent)"
    r"|before you continue|cookies (akzeptieren|zustimmen)|accepter (les )?cookies|aceptar (las )?cookies",
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"(enable|requires?|turn on|activate) javascript|javascript (is|to be) (disabled|required|enabled)", re.I
)


def check_for_humans(title: str, text: str) -> bool:
    """Tells whether a page only checks that no program reads it."""
    return len(text) < _SHORT and bool(_HUMAN.search(f"{title}\n{text}"))


def consent_wall(text: str) -> bool:
    """Tells whether a page only asks to agree to something."""
    return len(text) < _SHORT and bool(_CONSENT.search(text))


def needs_scripts(text: str, scripted: bool) -> bool:
    """Tells whether a page is empty until its scripts have run."""
    plain = re.sub(r"\]\([^)]*\)|[\[\]!#*|-]", " ", text)
    words = " ".join(plain.split())
    return (scripted and len(words) < _EMPTY) or (len(words) < _SHORT and bool(_SCRIPT.search(words)))
