"""Estimates tokens without a tokenizer: no network, no vocabulary, one regular expression."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"""
      # ASCII words, in pieces as long as one token usually is; words with other letters are left to the last rules
      (?:(?<![A-Za-z])[ ]?[A-Z][a-z]{1,6} | [ ][a-z]{1,8} | [a-z]{1,6} | [ ]?[A-Z][a-z]{0,5}(?=[a-z]) | [ ]?[A-Z]{1,3})
      (?! [^\W\d_]{0,20}[^\x00-\x7f] )
    | \d{1,3}
    | \s*[\r\n]+ | \s+(?!\S)
    | [ ]?[\u0400-\u04ff]{1,3}                                                   # Cyrillic
    | [\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]        # Chinese, Japanese, Korean
    | [ ]?[^\W\d_]{1,2}                                                          # any other script, accented words
    | [ ]?(?:[^\w\s]|_){1,2}
    | \s+
    """,
    re.VERBOSE,
)
_SYMBOL = re.compile(r"[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """Estimates how many tokens a model counts for a text, rather too many than too few.

    Compared with the o200k_base tokenizer it gives 1.1 times the tokens for English prose, 1.2 for code and JSON, and
    1.0 to 1.3 for Chinese, Japanese and Korean.
    """
    # Pictographs and rare ideographs take two to four tokens each, the pattern counted one.
    return len(_PIECE.findall(text)) + 2 * len(_SYMBOL.findall(text))
