from dataclasses import dataclass, field
from typing import Annotated

from kgot_core import hookimpl
from kgot_core.providers import Problem, ToolProvider

PALETTES = {
    "plain": {"red": "#ff0000", "green": "#008000", "blue": "#0000ff", "white": "#ffffff", "black": "#000000"},
    "fine": {"signal red": "#ff0000", "leaf green": "#008000", "ultramarine": "#0000ff", "navy": "#000080"},
}


@dataclass(frozen=True)
class ColourSettings:
    palette: str = field(default="plain", metadata={"help": "Which names to use: plain or fine"})


def check(settings):
    known = ", ".join(PALETTES)
    return None if settings.palette in PALETTES else Problem(f"there is no palette {settings.palette}", f"use {known}")


def create(settings, context):
    from langchain_core.tools import tool  # takes long to import, so not before a run needs it

    @tool
    def name_colour(code: Annotated[str, "A colour in the form #rrggbb"]) -> str:
        """Gives the name of the colour that is nearest to a colour code. Example: {"code": "#fe0102"}"""
        wanted = parts(code)
        palette = PALETTES[settings.palette]
        return min(palette, key=lambda name: sum(abs(a - b) for a, b in zip(parts(palette[name]), wanted, strict=True)))

    return [name_colour]


def parts(code):
    digits = code.strip().removeprefix("#")
    if len(digits) != 6:
        raise ValueError(f"a colour code has six digits, as in #ff0000, not {code}")
    return [int(digits[start : start + 2], 16) for start in (0, 2, 4)]


@hookimpl
def kgot_tools():
    summary = "Names colours by their codes."
    return [ToolProvider(name="colours", summary=summary, settings=ColourSettings, create=create, check=check)]
