"""``inspect_image``: what the model gets to see, and what is said where none sees."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pillow_heif
import pytest
from PIL import Image, ImageDraw, ImageFont

from kgot_core.errors import ModelError
from kgot_tools_media.tools.inspect_image import sections

REPLY = "TEXT\nOrm 1952\nOBJECTS\n- a red square\nANSWER\nOne square."


def drawing(path: Path, size: tuple[int, int] = (400, 200), **options: Any) -> Path:
    """Draws a red square at the left on white, and some words."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((20, 60, 120, 160), fill="red")
    draw.text((150, 80), "Orm 1952", fill="black", font=ImageFont.load_default(40))
    image.save(path, **options)
    return path


class Looker:
    """A model that sees; keeps what it was shown."""

    def __init__(self, reply: str | Exception = REPLY) -> None:
        self.images: list[Image.Image] = []
        self.prompt = ""
        self._reply = reply

    def __call__(self, asked: Any) -> Any:
        for message in asked.messages:
            for part in message.content if isinstance(message.content, list) else []:
                if part["type"] == "text":
                    self.prompt = part["text"]
                else:
                    data = part["image_url"]["url"].partition("base64,")[2]
                    self.images.append(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
        return self._reply


def test_the_model_sees_the_image_and_answers_in_sections(call: Callable[..., Any], tmp_path: Path) -> None:
    result, looker = look(call, drawing(tmp_path / "a.png"), question="How many squares?")
    assert "a.png: PNG, 400 x 200 pixels" in result.text
    assert "Text:\nOrm 1952\n\nObjects:\n- a red square\n\nAnswer:\nOne square." in result.text
    assert looker.images[0].getpixel((70, 110)) == (255, 0, 0) and looker.images[0].size == (400, 200)
    assert "How many squares?" in looker.prompt
    assert result.artifact.sources[0].address == "a.png"


def test_text_is_recognised_beside_the_model(call: Callable[..., Any], tmp_path: Path) -> None:
    looker = Looker()
    result = call("inspect_image", drawing(tmp_path / "a.png"), script=looker)
    assert "Orm 1952" in result.text.partition("Text by character recognition, which may misread:\n")[2]
    assert "Orm 1952" in looker.prompt


def test_without_a_model_that_sees_the_recognised_text_remains(call: Callable[..., Any], tmp_path: Path) -> None:
    blind = Looker(ModelError("this model takes no images"))
    result = call("inspect_image", drawing(tmp_path / "a.png"), script=blind)
    assert not result.failed and "Orm 1952" in result.text
    assert "no model looked at it" in result.text and "models.vision names a model that sees" in result.text
    failed = call("inspect_image", drawing(tmp_path / "a.png"), script=blind, settings={"ocr": False})
    assert failed.failed and "kgot-tools-media[ocr]" in failed.text


def look(call: Callable[..., Any], image: Path, **given: Any) -> tuple[Any, Looker]:
    """Looks at an image without character recognition, which costs seconds."""
    looker = Looker()
    settings = {"ocr": False, **given.pop("settings", {})}
    return call("inspect_image", image, script=looker, settings=settings, **given), looker


@pytest.mark.parametrize("ending", ["jpg", "gif", "webp", "bmp", "tiff"])
def test_every_format_is_seen(call: Callable[..., Any], tmp_path: Path, ending: str) -> None:
    result, looker = look(call, drawing(tmp_path / f"a.{ending}"))
    red, green, blue = looker.images[0].getpixel((70, 110))  # type: ignore[misc]
    assert not result.failed and red > 200 and green < 60 and blue < 60


def test_heic_and_svg_are_seen(call: Callable[..., Any], tmp_path: Path) -> None:
    pillow_heif.from_pillow(Image.open(drawing(tmp_path / "a.png"))).save(tmp_path / "a.heic")
    _, looker = look(call, tmp_path / "a.heic")
    assert looker.images[0].size == (400, 200)
    square = '<rect x="5" y="5" width="20" height="20" fill="#ff0000"/>'
    outside = f'<image href="{tmp_path / "a.png"}" width="100" height="50"/>'
    (tmp_path / "a.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50">{outside}{square}</svg>'
    )
    _, looker = look(call, tmp_path / "a.svg")
    width, height = looker.images[0].size
    assert looker.images[0].getpixel((width // 10, height // 4)) == (255, 0, 0)
    assert looker.images[0].getpixel((width // 2, height * 45 // 100)) == (255, 255, 255), (
        "no file of the user's is drawn"
    )


def test_a_photo_is_turned_upright_and_made_smaller(call: Callable[..., Any], tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: the image has to be turned by 90 degrees to the right
    _, looker = look(call, drawing(tmp_path / "a.jpg", exif=exif), settings={"side": 100})
    (image,) = looker.images
    assert image.size == (50, 100)
    red, green, _ = image.getpixel((22, 18))  # type: ignore[misc]
    assert red > 200 and green < 90, "the square, at the left below, is now above"


def test_transparent_images_stand_on_white(call: Callable[..., Any], tmp_path: Path) -> None:
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(tmp_path / "a.png")
    _, looker = look(call, tmp_path / "a.png")
    assert looker.images[0].getpixel((5, 5)) == (255, 255, 255)


def test_frames_are_spread_over_a_moving_image(call: Callable[..., Any], tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), (number * 20, 0, 0)) for number in range(10)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:], duration=100)
    result, looker = look(call, tmp_path / "a.gif", settings={"frames": 3})
    shades = [image.getpixel((4, 4))[0] for image in looker.images]  # type: ignore[index]
    assert len(shades) == 3 and shades[0] == 0 and shades[-1] > 170
    assert "of 10 frames these were looked at: frame 1, frame 5, frame 10" in result.text
    one, looker = look(call, tmp_path / "a.gif", page=2)
    assert len(looker.images) == 1 and one.artifact.sources[0].place == "frame 2"


def test_a_page_of_a_pdf_is_seen(call: Callable[..., Any], tmp_path: Path) -> None:
    pages = [Image.open(drawing(tmp_path / "a.png")), Image.new("RGB", (400, 200), "blue")]
    pages[0].save(tmp_path / "a.pdf", save_all=True, append_images=pages[1:])
    result, looker = look(call, tmp_path / "a.pdf", page=2)
    assert looker.images[0].getpixel((50, 50))[2] > 200  # type: ignore[index]
    assert result.artifact.sources[0].place == "page 2"
    missing, _ = look(call, tmp_path / "a.pdf", page=3)
    assert missing.failed and "has 2 pages, and no page 3" in missing.text


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("cut.png", b"\x89PNG\r\n\x1a\n" + bytes(30), "cut.png is no image that can be opened, or is damaged"),
        ("empty.jpg", b"", "empty.jpg is empty (0 bytes)"),
        ("note.jpg", b"only words", "note.jpg is no image but of the kind text"),
    ],
)
def test_bad_images_are_said(call: Callable[..., Any], tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    result, _ = look(call, tmp_path / name)
    assert result.failed and words in result.text


def test_an_image_of_very_many_pixels_is_refused(call: Callable[..., Any], tmp_path: Path) -> None:
    Image.new("1", (12_000, 12_000)).save(tmp_path / "bomb.png")
    result, _ = look(call, tmp_path / "bomb.png")
    assert result.failed and "more than 120 million pixels" in result.text


def test_an_address_needs_a_tool_that_opens_it(call: Callable[..., Any], tmp_path: Path) -> None:
    result, _ = look(call, drawing(tmp_path / "a.png"), path="http://127.0.0.1/a.png")
    assert result.failed and "no tool that opens addresses (pip install kgot-tools-web)" in result.text


def test_inspect_file_hands_images_over_with_the_question(call: Callable[..., Any], tmp_path: Path) -> None:
    looker = Looker()
    result = call("inspect_file", drawing(tmp_path / "a.png"), question="How many squares?", script=looker)
    assert "Answer:\nOne square." in result.text and "How many squares?" in looker.prompt


@pytest.mark.parametrize(
    "reply",
    [
        REPLY,
        "**TEXT:** Orm 1952\n**OBJECTS:**\n- a red square\n## ANSWER\nOne square.",
        "TEXT: Orm 1952\n\nOBJECTS: - a red square\n\nANSWER: One square.",
    ],
)
def test_sections_are_found_however_they_are_marked(reply: str) -> None:
    assert sections(reply) == ["Text:\nOrm 1952", "Objects:\n- a red square", "Answer:\nOne square."]


def test_a_reply_without_sections_is_the_answer() -> None:
    assert sections("One square.\n") == ["Answer:\nOne square."]
