"""Character recognition on this machine (extra ``ocr``), for scanned pages and images."""

from __future__ import annotations

import importlib.util
import logging
from typing import Any

from PIL import Image, ImageChops

_MODULES = ("rapidocr", "onnxruntime")
_SURE = 0.5
_SAME_LINE = 0.5
_LONGEST_SIDE = 2_000
_INK, _MARGIN = 24, 40


class Recogniser:
    """Reads the text of pictures; its models come with the package."""

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        # By default a small picture is made larger until its shorter side fits, which costs seconds and finds nothing.
        size = {"Det.limit_type": "max", "Det.limit_side_len": _LONGEST_SIDE}
        self._engine: Any = RapidOCR(params={"Global.log_level": "error", **size})

    def text(self, picture: Image.Image) -> str:
        """Gives the text of a Pillow image in lines from the top to the bottom."""
        import numpy

        inked = _inked(picture.convert("RGB"))
        if inked is None:
            return ""
        result = self._engine(numpy.asarray(inked))
        if result.boxes is None or result.txts is None:
            return ""
        words = [
            (float(box[:, 1].mean()), float(box[:, 0].min()), float(numpy.ptp(box[:, 1])), text)
            for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True)
            if score >= _SURE
        ]
        return "\n".join(_lines(words))


def recogniser() -> Recogniser | None:
    """Gives a recogniser, ``None`` where the extra ``ocr`` is not installed."""
    if any(importlib.util.find_spec(name) is None for name in _MODULES):
        return None
    return Recogniser()


def _inked(picture: Image.Image) -> Image.Image | None:
    """Cuts off the empty margins, beside which a single line is not found; ``None`` for an empty page."""
    ground = Image.new("RGB", picture.size, picture.getpixel((0, 0)))
    differs = ImageChops.difference(picture, ground).convert("L").point(lambda value: 255 * (value > _INK))
    box = differs.getbbox()
    if box is None:
        return None
    left, top, right, bottom = box
    area = (left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN)
    # What is outside the picture would be filled with black.
    return picture.crop((max(0, area[0]), max(0, area[1]), min(picture.width, area[2]), min(picture.height, area[3])))


def _lines(words: list[tuple[float, float, float, str]]) -> list[str]:
    """Puts words whose middles are at one height into one line."""
    lines: list[list[tuple[float, float, float, str]]] = []
    for word in sorted(words):
        if lines and word[0] - lines[-1][0][0] < _SAME_LINE * max(word[2], lines[-1][0][2]):
            lines[-1].append(word)
        else:
            lines.append([word])
    return ["  ".join(text for _, _, _, text in sorted(line, key=lambda word: word[1])) for line in lines]
