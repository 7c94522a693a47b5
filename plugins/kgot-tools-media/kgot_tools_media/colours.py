"""Colours of cells, by name where they have a plain one."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

_NAMED = (
    ("black", 0x000000),
    ("white", 0xFFFFFF),
    ("red", 0xFF0000),
    ("dark red", 0xC00000),
    ("orange", 0xFFA500),
    ("yellow", 0xFFFF00),
    ("light green", 0x92D050),
    ("lime", 0x00FF00),
    ("green", 0x00B050),
    ("dark green", 0x006400),
    ("cyan", 0x00FFFF),
    ("light blue", 0x00B0F0),
    ("blue", 0x0000FF),
    ("mid blue", 0x0070C0),
    ("dark blue", 0x002060),
    ("purple", 0x7030A0),
    ("magenta", 0xFF00FF),
    ("pink", 0xFFC0CB),
    ("brown", 0x8B4513),
    ("grey", 0x808080),
    ("light grey", 0xD3D3D3),
)
_NEAR = 60.0


def colour_name(code: str) -> str:
    """Names a colour of six hexadecimal digits: ``yellow #FFFF00``; only the code where no name is near."""
    code = code[-6:].upper()
    parts = _rgb(code)
    distance, name = min((_distance(parts, _rgb(f"{value:06X}")), name) for name, value in _NAMED)
    return f"{name} #{code}" if distance < _NEAR else f"#{code}"


def tinted(code: str, tint: float) -> str:
    """Makes a colour lighter (above 0, up to 1) or darker (below 0)."""
    hue, light, strength = colorsys.rgb_to_hls(*(part / 255 for part in _rgb(code)))
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    made = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), strength)
    return "".join(f"{round(part * 255):02X}" for part in made)


def _rgb(code: str) -> Sequence[int]:
    return [int(code[-6:][place : place + 2], 16) for place in (0, 2, 4)]


def _distance(one: Sequence[int], other: Sequence[int]) -> float:
    return float(sum((left - right) ** 2 for left, right in zip(one, other, strict=True)) ** 0.5)
