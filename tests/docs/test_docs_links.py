"""Links, paths and names in the pages lead to what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / folder for folder in re.findall(r"^-e (\S+)", (ROOT / "plugins/dev.txt").read_text("utf-8"), re.M)]
PAGES = sorted(page for folder in (*PACKAGES, ROOT / "docs") for page in folder.glob("*.md"))


def anchors(page: Path) -> set[str]:
    """Gives the anchors of a page's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://|mailto:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        assert place.exists(), f"{target}: there is no such file"
        assert not anchor or anchor in anchors(place), f"{target}: there is no such heading"


def test_the_readme_leads_to_every_page() -> None:
    reached, pending = set(), [ROOT / "README.md"]
    while pending:
        page = pending.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            found = re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8"))
            pending += [place for target in found if (place := (page.parent / target).resolve()).exists()]
    written = {page for page in ROOT.glob("docs/*.md") if not page.name.endswith(".head.md")}
    assert written - reached == set()


def test_the_architecture_page_names_every_part_of_the_core_and_no_other() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    table = text.partition("| in `kgot_core/` | what |")[2].partition("\n\n")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in first_cells for name in re.findall(r"`([\w.]+)/?`", cell)}
    inside = {path.name for path in (ROOT / "kgot_core").iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    modules = {path.name for path in (ROOT / "kgot_core").glob("*.py")} - {"__init__.py", "__main__.py"}
    mentioned = set(re.findall(r"`(\w+\.py)`", table))
    assert {name for name in named if not name.endswith(".py")} == inside
    assert modules <= named | mentioned
    assert {name for name in mentioned if not list((ROOT / "kgot_core").rglob(name))} == set()


def test_the_architecture_page_has_the_layers_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(contract for contract in settings["contracts"] if contract["type"] == "layers")["layers"]
    checked = [{part.strip().removeprefix("kgot_core.") for part in layer.split(":")} for layer in layers]
    said = re.search(r"Layers, checked by import-linter: `([^`]+)`", (ROOT / "docs/architecture.md").read_text("utf-8"))
    assert said is not None
    assert [{part.strip() for part in layer.split(",")} for layer in said[1].split(">")] == checked
