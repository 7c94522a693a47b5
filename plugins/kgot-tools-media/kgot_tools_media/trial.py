"""What the tools are tried with by ``kgot plugins check``: a small file for each of them."""

from __future__ import annotations

import contextlib
import wave
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from kgot_core.contracts.trial import Trial

TABLE = "port,ships\nOrm,3\nSarn,5\n"


@contextlib.contextmanager
def trial(settings: Any, folder: Path) -> Iterator[Trial]:
    """Gives a table, a text, an archive, a drawing, and a second of silence, for which no speech model is needed."""
    files = [folder / name for name in ("harbours.csv", "dues.txt", "data.zip", "photo.png", "silent.wav")]
    table, text, archive, drawing, sound = files
    table.write_text(TABLE, encoding="utf-8")
    text.write_text("Harbour dues of 1952: 40\n", encoding="utf-8")
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("ports.csv", TABLE)
    picture = Image.new("RGB", (160, 60), "white")
    ImageDraw.Draw(picture).rectangle((20, 20, 60, 40), fill="red")
    picture.save(drawing)
    with wave.open(str(sound), "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(16_000)
        written.writeframes(bytes(32_000))
    calls = {"inspect_image": {"path": drawing.name}, "transcribe_audio": {"path": sound.name}}
    bad = {name: {"path": "not-there.zip"} for name in ("inspect_file", "extract_archive", *calls)}
    untried = {}
    if getattr(settings, "base_url", ""):
        untried["transcribe_audio"] = "it would send sound to the server of tools.transcribe_audio.base_url"
    yield Trial(settings, files, calls, bad, "TEXT\nnone\nOBJECTS\na red square\nANSWER\nred", untried)
