from __future__ import annotations

import ast
import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.sandboxes.files import Collector, given_files, safe_form, safe_name
from kgot_core.sandboxes.jail import wire
from kgot_core.sandboxes.last_expression import keep_value
from kgot_core.sandboxes.text import Printed

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_result_is_read_as_it_was_written(value):
    assert wire.read_result(json.dumps(value).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_a_json_value_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        json.dumps(wire.read_result(data), allow_nan=False)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[" * 201 + b"]" * 201, "200 levels"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "200 levels"),
        (b"[" * 1_000_000, "levels|values"),
        (b"[" + b"[]," * 1_000_000 + b"1]", "2,000,000 values"),
        (b'"' + b"a" * (17 << 20) + b'"', "16 MiB"),
        (b"9" * 5000, "not JSON"),
        (b"[NaN]", "NaN"),
        (b"-Infinity", "Infinity"),
        (b"\xff", "not JSON"),
        (b"\x80\x04K\x01.", "not JSON"),
        (b"", "not JSON"),
    ],
    ids=lambda value: value[:12] if isinstance(value, bytes) else None,
)
def test_bombs_are_refused_by_name(data, says):
    with pytest.raises(ValueError, match=says):
        wire.read_result(data)


def test_depth_at_the_limit_is_read():
    assert wire.read_result(b"[" * 199 + b"]" * 199)


@given(st.lists(st.text(alphabet="aé漢😀\n", max_size=40), max_size=30), st.integers(0, 60))
def test_kept_output_is_the_beginning_and_the_end(parts, limit):
    printed = Printed(limit)
    for part in parts:
        printed.add(part.encode())
    whole, kept = "".join(parts), printed.text()
    if len(whole) <= limit:
        assert kept == whole
    else:
        begin, _, rest = kept.partition("\n[… the output was cut")
        end = rest.partition("…]\n")[2]
        assert whole.startswith(begin) and whole.endswith(end)
        assert limit - 1 <= len(begin) + len(end) <= limit


def test_flood_is_kept_in_little_memory():
    printed = Printed(10)
    for number in range(1000):
        printed.add(b"%d " % number * 1000)
    assert printed.count > 3_000_000
    assert printed.text().startswith("0 0 0 0") and printed.text().endswith("99 ")


@pytest.mark.parametrize(
    "name", ["a.txt", "plots/figure 1.png", "é.csv", "data.tar.gz", "a/b/c/d", "x" * 200, "_private", "console"]
)
def test_ordinary_names_are_safe(name):
    assert safe_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "/",
            "/etc/passwd",
            "..",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            ".env",
            "a/.git/hooks",
            "-rf",
            "~",
            "a\\b",
        ),
        *(
            "C:x",
            "CON",
            "con.txt",
            "a/NUL",
            "lpt1",
            "trail.",
            "trail ",
            " lead",
            "a\0b",
            "a\nb",
            "a\x1b[0m",
            "a\u202eb",
        ),
        *("x" * 201, "é" * 101, "/".join("a" * 11), "x/" * 600 + "x", "a?b", "a*", '"', "a|b", "<a>"),
    ],
)
def test_odd_names_are_not(name):
    assert not safe_name(name)


@given(st.text(max_size=30))
def test_safe_name_stays_in_its_folder(name):
    if safe_name(name):
        folder = Path("/base/folder")
        assert folder in Path(folder, name).resolve().parents


def test_given_files_are_looked_at(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 700_000)
    assert given_files({"one": tmp_path / "a"}, 1) == {"one": 700_000}
    for files in ({"one": tmp_path}, {"one": tmp_path / "none"}, {"../a": tmp_path / "a"}):
        with pytest.raises(ValueError):
            given_files(files, 1)
    with pytest.raises(ValueError, match="1 MiB"):
        given_files({"one": tmp_path / "a", "two": tmp_path / "a"}, 1)


def test_collector_replaces_files_and_never_folders(tmp_path):
    collector = Collector(tmp_path / "new")
    collector.add("a", [b"1", b"2"])
    collector.add("a", [b"3"])
    collector.add("a/b", [b"4"])
    collector.add("c/d", [b"5"])
    collector.add("c", [b"6"])
    collector.add("../out", [b"7"])
    assert collector.refused == ["a/b", "c", "../out"]
    assert (tmp_path / "new/a").read_bytes() == b"3"
    assert (tmp_path / "new/c/d").read_bytes() == b"5"
    assert not (tmp_path / "out").exists()


STATEMENTS = st.sampled_from(
    [
        "a = 1",
        "def f(x):\n    return x",
        "for i in [1]:\n    i",
        "b = '''\n1\n'''",
        "# note",
        "if 1:\n  b = 2",
        "import re; a = 3",
        "\f",
    ]
)
EXPRESSIONS = st.sampled_from(
    [
        "5 * 6",
        "(1,\n2)",
        "'a' 'b'",
        "{1: 2}[1]",
        "[x\n for x in (1, 2)]",
        "lambda: 0",
        "not 1",
        "'''\n#'''",
        "-1 # why",
        "1 \\\n + 1",
        "'é漢'",
    ]
)


@given(st.lists(STATEMENTS, max_size=4), EXPRESSIONS, st.sampled_from(["", "\n", ";", "\n\n# end", "  \n"]))
def test_last_expression_is_kept_and_lines_stay(before, expression, after):
    code = "\n".join([*before, expression]) + after
    changed = keep_value(code, "kept")
    assert changed is not None
    names: dict[str, object] = {}
    exec(changed, names)  # noqa: S102
    expected = eval(expression.partition(" #")[0] if "#'" not in expression else expression)  # noqa: S307
    assert callable(expected) or names["kept"] == expected
    assert ast.parse(changed).body[-1].lineno == ast.parse(code).body[-1].lineno


@pytest.mark.parametrize(
    "code",
    [
        "",
        "# only",
        "for x in y:\n    x",
        "def f(): pass",
        "import re",
        "x = (",
        "'''",
        "if 1: 2",
        "a\n  b",
        "class A:\n    1",
        "del x",
        "@f\ndef g(): pass",
    ],
)
def test_other_endings_are_left_alone(code):
    assert keep_value(code, "kept") is None


@given(st.text(max_size=40))
def test_any_text_can_be_looked_at(code):
    changed = keep_value(code, "kept")
    assert changed is None or "kept = (" in changed


NAMES = st.text(max_size=300) | st.from_regex(
    r"[ .~-]{0,3}(con|aux|a)?[?*é日/:]{0,100}(\.[a-zé]{0,30})?", fullmatch=True
)


@given(NAMES)
def test_any_name_has_a_safe_form_and_a_safe_one_stays(name):
    form = safe_form(name)
    assert safe_name(form) and "/" not in form and safe_form(form) == form
    assert form == name or not safe_name(name) or "/" in name


@pytest.mark.parametrize("name", ["what: is?.xlsx", "x" * 300 + ".xlsx", ".hidden.xlsx", "a/b.xlsx"])
def test_safe_form_keeps_the_ending(name):
    assert safe_form(name).endswith(".xlsx")
