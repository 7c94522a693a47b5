"""Makes an image ready for a model, and reads its text, in the child process."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from kgot_tools_media.kinds import PDF, recognise
from kgot_tools_media.parts import CannotRead
from kgot_tools_media.pictures import pictures
from kgot_tools_media.recognition import recogniser

_FEW_COLOURS = 256


def run(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Gives facts, images as ``data:`` URLs, and recognised text.

    Args:
        job: ``path``, ``page`` (0: all), ``frames`` and ``side`` (the longest, in pixels), ``ocr``.
    """
    path = Path(job["path"])
    found = recognise(path)
    drawing = path.suffix.lower() in (".svg", ".svgz")
    if found.kind.family != "image" and found.kind is not PDF and not drawing:
        raise CannotRead(f"is no image but of the kind {found.kind.title}", "read it with inspect_file")
    if found.note:
        yield {"note": found.note}
    held = pictures(path, found.kind, job["page"], job["frames"])
    yield {"facts": held.facts, "count": held.count}
    for picture in held.shown:
        yield {"image": data_url(picture.image, job["side"]), "place": picture.place}
    eyes = recogniser() if job["ocr"] else None
    for picture in held.shown if eyes is not None else ():
        assert eyes is not None
        yield {"text": eyes.text(picture.image), "place": picture.place}
    yield {"eyes": eyes is not None}


def data_url(image: Image.Image, side: int) -> str:
    """Writes an image no larger than a side, without loss where it is a drawing of few colours."""
    small = image.copy()
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    drawn = small.getcolors(_FEW_COLOURS) is not None
    data = io.BytesIO()
    if drawn:
        small.save(data, "PNG", optimize=True)
    else:
        small.save(data, "JPEG", quality=88)
    kind = "png" if drawn else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(data.getvalue()).decode()}"
