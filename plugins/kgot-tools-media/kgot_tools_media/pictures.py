"""Images of every kind as Pillow images: upright, with frames, pages and drawings made into pixels."""

from __future__ import annotations

import importlib.util
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps, UnidentifiedImageError

from kgot_tools_media.kinds import PDF, Kind
from kgot_tools_media.parts import CannotRead

MOST_PIXELS = 120_000_000
_HEIF = (".heic", ".heif", ".avif")
_DRAWN_SIDE = 1_600
_TAKEN = 36_867
_EXIF = 0x8769
_DESCRIPTION = 270


@dataclass(frozen=True)
class Picture:
    """One image to look at.

    Attributes:
        image: Its pixels.
        place: Which frame or page it is, empty for the only one.
    """

    image: Image.Image
    place: str = ""


@dataclass(frozen=True)
class Pictures:
    """What a file holds.

    Attributes:
        facts: Format, size, when it was taken.
        shown: The images that are looked at.
        count: How many frames or pages there are.
    """

    facts: tuple[str, ...]
    shown: tuple[Picture, ...]
    count: int


def pictures(path: Path, kind: Kind, page: int, most: int) -> Pictures:
    """Opens an image, the frames of a moving one, or a page of a PDF.

    Args:
        path: The file.
        kind: Its kind.
        page: Page or frame that is wanted, from 1; 0: all, or some of many.
        most: Frames that are looked at.

    Raises:
        CannotRead: It is damaged, too large, or an extra is missing.
    """
    if kind is PDF:
        return _pdf_page(path, max(page, 1))
    if path.suffix.lower() in (".svg", ".svgz"):
        drawn = _drawn(path)
        return Pictures((f"SVG drawn at {drawn.width} x {drawn.height} pixels",), (Picture(drawn),), 1)
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    if importlib.util.find_spec("pillow_heif") is not None:
        import pillow_heif

        pillow_heif.register_heif_opener()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(path)
            return _frames(opened, page, most)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise CannotRead(f"has more than {MOST_PIXELS // 10**6} million pixels", "make it smaller first") from None
    except UnidentifiedImageError:
        if path.suffix.lower() in _HEIF and importlib.util.find_spec("pillow_heif") is None:
            raise CannotRead("is a HEIC image", "pip install 'kgot-tools-media[heic]' reads these") from None
        raise CannotRead("is no image that can be opened, or is damaged", "ask for the file again") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None


def _frames(opened: Image.Image, page: int, most: int) -> Pictures:
    count = int(getattr(opened, "n_frames", 1))
    if page > count:
        raise CannotRead(f"has {count} frames, and no frame {page}")
    facts = [f"{opened.format or 'image'}, {opened.width} x {opened.height} pixels"]
    facts += [f"{count} frames"] if count > 1 else []
    facts += _told(opened)
    places = [page - 1] if page else _spread(count, most)
    shown = []
    for place in places:
        opened.seek(place)
        # A copy, since the next frame takes the place of this one.
        upright = ImageOps.exif_transpose(opened.copy()) or opened.copy()
        shown.append(Picture(_on_white(upright), f"frame {place + 1}" if count > 1 else ""))
    return Pictures(tuple(facts), tuple(shown), count)


def _told(opened: Image.Image) -> Iterator[str]:
    exif = opened.getexif()
    taken = exif.get_ifd(_EXIF).get(_TAKEN)
    if taken:
        yield f"taken {taken}"
    if exif.get(_DESCRIPTION):
        yield f"described as {str(exif[_DESCRIPTION]).strip()[:200]}"


def _spread(count: int, most: int) -> list[int]:
    """Chooses frames from the first to the last at even distances."""
    if count <= most:
        return list(range(count))
    if most == 1:
        return [0]
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def _on_white(image: Image.Image) -> Image.Image:
    """Puts a transparent image on white; 16 bits a pixel become 8."""
    if image.mode.startswith("I;16") or image.mode == "I":
        image = image.point(lambda value: value / 256).convert("L")
    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    layered = image.convert("RGBA")
    ground = Image.new("RGBA", layered.size, "white")
    ground.alpha_composite(layered)
    return ground.convert("RGB")


def _pdf_page(path: Path, page: int) -> Pictures:
    import pypdfium2

    try:
        pages: Any = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise CannotRead(f"cannot be opened: {error}", "inspect_file tells more about it") from None
    if page > len(pages):
        raise CannotRead(f"has {len(pages)} pages, and no page {page}")
    image = pages[page - 1].render(scale=150 / 72).to_pil().convert("RGB")
    return Pictures((f"PDF, {len(pages)} pages",), (Picture(image, f"page {page}"),), len(pages))


def _drawn(path: Path) -> Image.Image:
    if importlib.util.find_spec("resvg_py") is None:
        raise CannotRead(
            "is an SVG drawing", "pip install 'kgot-tools-media[svg]' draws these; inspect_file gives its source"
        )
    from lxml import etree
    from resvg_py import svg_to_bytes

    from kgot_tools_media.readers.xml import parser

    try:
        root = etree.fromstring(path.read_bytes(), parser())
        for element in root.iter():
            for name in [name for name in element.attrib if name.rpartition("}")[2] == "href"]:
                # What a drawing takes from elsewhere is no part of it, and may be a file of the user's.
                if not element.attrib[name].strip().startswith(("#", "data:")):
                    del element.attrib[name]
        data = svg_to_bytes(
            svg_string=etree.tostring(root, encoding="unicode"), background="#ffffff", width=_DRAWN_SIDE
        )
        return Image.open(io.BytesIO(bytes(data))).convert("RGB")
    except (ValueError, etree.XMLSyntaxError) as error:
        raise CannotRead(f"is an SVG drawing that cannot be drawn: {error}") from None
