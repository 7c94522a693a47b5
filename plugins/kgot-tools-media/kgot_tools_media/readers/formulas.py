"""Formulas of sheets: those that were filled into a range are told once."""

from __future__ import annotations

from openpyxl.formula.translate import Translator, TranslatorError

from kgot_tools_media.grid import letters

FORMULAS = "Formulas (of a range, that of its first cell)"
"""Name of the mark."""


def origin_of(groups: dict[tuple[int, int], tuple[str, str]], place: tuple[int, int], formula: str) -> str:
    """Gives the formula that the cell was filled from: that of the cell above or at the left, if it only moved on."""
    row, column = place
    for origin in ((row - 1, column), (row, column - 1)):
        if origin in groups:
            own, first = groups[origin]
            try:
                moved = Translator(own, f"{letters(origin[1])}{origin[0]}").translate_formula(f"{letters(column)}{row}")
            except TranslatorError:
                continue
            if moved == formula:
                groups[place] = (formula, first)
                return first
    groups[place] = (formula, formula)
    return formula
