"""Keeping the value of a script's last expression, without parsing the script on the host.

Python's own parser may crash on hostile source, and this one would run beside the keys. The tokenizer does not recurse;
whether what it finds is an expression is left to the interpreter in the sandbox.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from dataclasses import dataclass, field

_SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING)
# Not every keyword: await, lambda, not, None, True and False begin expressions.
_STATEMENTS = frozenset(keyword.kwlist) - {"await", "lambda", "not", "None", "True", "False"} | {"@"}


@dataclass
class _Reader:
    """Finds the last simple statement at the top level."""

    start: tuple[int, int] | None = None
    end: tuple[int, int] = (0, 0)
    depth: int = 0
    indent: int = 0
    tokens: list[tokenize.TokenInfo] = field(default_factory=list)

    def take(self, token: tokenize.TokenInfo) -> None:
        if token.type in _SKIPPED:
            return
        if token.type == tokenize.INDENT:
            self.indent += 1
        elif token.type == tokenize.DEDENT:
            self.indent -= 1
        elif token.type == tokenize.NEWLINE or (token.string == ";" and not self.depth):
            self._close()
        elif token.type != tokenize.ENDMARKER:
            self.depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
            self.tokens.append(token)

    def _close(self) -> None:
        if self.tokens:
            first = self.tokens[0]
            self.start = None if self.indent or first.string in _STATEMENTS else first.start
            self.end = self.tokens[-1].end
        self.tokens = []


def keep_value(code: str, name: str) -> str | None:
    """Gives the script with its last statement turned into an assignment to ``name``, on the same lines.

    Returns:
        The changed script, which is a syntax error where the last statement is no expression; ``None`` where it is
        certainly none.
    """
    reader = _Reader()
    try:
        # Without a final line break, the tokenizer takes a last line that looks like a comment for one.
        for token in tokenize.generate_tokens(io.StringIO(code + "\n").readline):
            reader.take(token)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    if reader.start is None:
        return None
    lines = io.StringIO(code).readlines()
    begin = sum(map(len, lines[: reader.start[0] - 1])) + reader.start[1]
    end = sum(map(len, lines[: reader.end[0] - 1])) + reader.end[1]
    return f"{code[:begin]}{name} = ({code[begin:end]}\n)"
