"""A dialect's page: its sections and examples, read as text."""

from __future__ import annotations

import pytest

from kgot_core.contracts.dialect import QueryExample
from kgot_core.contracts.dialect_page import read_dialect_page

PAGE = """# Guide

Write it.

# Guide for visitors

More.

# Write

```sketch
# a comment of the language is no heading
draw lake
```

```sketch
draw river
```

# Query

How deep is the lake?

```sketch
depth lake
```

Answer: 61
Basis: lake | river

# Invalid

```sketch
draw (
```
"""


def test_a_page_is_read_whole() -> None:
    page = read_dialect_page(PAGE, "sketch")
    assert page.guide == "Write it." and page.sections["Guide for visitors"] == "More."
    assert page.write_examples == ("# a comment of the language is no heading\ndraw lake", "draw river")
    assert page.query_examples == (QueryExample("How deep is the lake?", "depth lake", "61", ("lake", "river")),)
    assert page.invalid_example == "draw ("


@pytest.mark.parametrize("name", ["Guide", "Write", "Query", "Invalid"])
def test_a_missing_section_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"no section {name}"):
        read_dialect_page(PAGE.replace(f"# {name}\n", "# Other\n"), "sketch")


def test_a_section_without_examples_of_the_language_is_named() -> None:
    with pytest.raises(ValueError, match=r"section Write .* no example in python"):
        read_dialect_page(PAGE, "python")
