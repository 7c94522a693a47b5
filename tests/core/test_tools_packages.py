"""Packages that a script asks for: what may be named, what may be fetched, and that nothing of it runs outside."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.builtin import kgot_tools
from kgot_core.contracts.model import ToolCallRequest
from kgot_core.run.parts import ToolEntry
from kgot_core.sandboxes.providers import BWRAP, DOCKER, BwrapSettings
from kgot_core.testing.runs import Setting, try_in_run
from kgot_core.testing.sandbox_suite import ready_sandbox
from kgot_core.tools.packages import missing, pinned, read_requirement, refused
from kgot_core.tools.settings import PythonCodeSettings

CODE = "import kgot_extra\nprint('extra says', kgot_extra.word)"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("openpyxl", "openpyxl"),
        (" Open_PyXL == 3.1.5 ", "open-pyxl==3.1.5"),
        ("numpy>=1.26,<3", "numpy<3,>=1.26"),
        ("sklearn", "scikit-learn"),
        ("PIL", "pillow"),
    ],
)
def test_plain_names_and_versions_are_read(text, read):
    assert str(read_requirement(text)) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", "-r list.txt", "--index-url=http://evil", "-e .", ".", "..", "/tmp/x", "./x.whl", "a b", "a;b"),
        *("x @ http://evil/x.whl", "x @ file:///etc", "git+https://evil/x", "http://evil/x.whl", "x[extra]", "x\ny"),
        *(
            "x; python_version > '3'",
            "x===1",
            "x" * 200,
            "$(id)",
            "`id`",
            "x --pre",
            "x\0y",
            "\u202ex",
            "~x",
            "x==1 -e .",
        ),
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError):
        read_requirement(text)


@given(st.text(max_size=30))
def test_what_is_read_can_be_no_option_address_or_path(text):
    try:
        read = str(read_requirement(text))
    except ValueError:
        return
    assert read[0].isalnum() and not {"/", "\\", "@", ";", "[", " ", "\n"} & set(read)


def test_what_is_there_is_not_fetched_and_what_stands_in_its_way_is_told():
    versions = {"NumPy": "2.1.0", "python-dateutil": "2.9"}
    asked = ["json", "os.path", "numpy", "numpy>=2", "dateutil", "openpyxl", "networkx"]
    assert [str(one) for one in missing(asked, versions, ["networkx"])] == ["openpyxl"]
    with pytest.raises(ValueError, match=r"numpy 2\.1\.0 is there"):
        missing(["numpy<2"], versions, [])


def test_only_what_is_on_the_list_may_be_fetched():
    wanted = [read_requirement("openpyxl"), read_requirement("evil==1")]
    assert refused(wanted, ("OpenPyXL>=3",), everything=False) == ["evil==1"]
    assert refused(wanted, (), everything=True) == []
    assert pinned(wanted, ("openpyxl==3.1.5",)) == ["openpyxl==3.1.5", "evil==1"]


def _wheel(folder: Path, name: str, requires: str = "") -> None:
    info = f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "word = 'hello'\n")
        wheel.writestr(f"{info}/METADATA", metadata + (f"Requires-Dist: {requires}\n" if requires else ""))
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages in the place of the index: one as a wheel, one as source that would run when it is built."""
    folder = tmp_path / "index"
    folder.mkdir()
    _wheel(folder, "kgot_extra")
    with tarfile.open(folder / "kgot_source-1.0.tar.gz", "w:gz") as source:
        setup = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n".encode()
        for name, data in (
            ("setup.py", setup),
            ("PKG-INFO", b"Metadata-Version: 2.1\nName: kgot-source\nVersion: 1.0\n"),
        ):
            info_of = tarfile.TarInfo(f"kgot_source-1.0/{name}")
            info_of.size = len(data)
            source.addfile(info_of, io.BytesIO(data))
    _wheel(folder, "kgot_lure", requires=f"kgot-source @ {(folder / 'kgot_source-1.0.tar.gz').as_uri()}")
    _wheel(folder, "kgot_lure_git", requires=f"kgot-source @ git+{(folder / 'repository').as_uri()}")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-5512")
    return folder


@pytest.fixture(params=["bwrap", pytest.param("docker", marks=pytest.mark.xdist_group("docker"))])
def sandbox(request: pytest.FixtureRequest) -> Any:
    if request.param == "bwrap":
        return ready_sandbox(BWRAP, BwrapSettings())
    return ready_sandbox(DOCKER, request.getfixturevalue("docker_settings"))


def call(sandbox: Any, folder: Path, modules: list[str], **settings: Any) -> tuple[bool, str]:
    """Calls the tool once in a run; gives whether it worked, and what it said."""
    provider = next(provider for provider in kgot_tools() if provider.name == "run_python_code")
    entry = ToolEntry(provider, PythonCodeSettings(**settings))
    asked = ToolCallRequest("run_python_code", {"code": CODE, "required_modules": modules})
    setting = Setting(tools=[entry], sandbox=sandbox, folder=folder / "files")
    result = try_in_run(lambda run: run.tools.call("one", asked), setting).result
    return not result.failed, result.text


def test_allowed_package_is_fetched_as_a_wheel_and_imported(sandbox, index, tmp_path):
    worked, text = call(sandbox, tmp_path, ["kgot_extra==1.0"], allow=("kgot-extra",))
    assert (worked, text) == (True, "extra says hello"), text


def test_source_package_is_not_built_and_nothing_of_it_runs(sandbox, index, tmp_path):
    worked, text = call(sandbox, tmp_path, ["kgot-source"], allow_install=True)
    assert not worked and "could not be installed" in text and "kgot-source" in text
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("lure", ["kgot-lure", "kgot-lure-git"])
def test_nothing_is_built_that_a_wheel_names_by_its_address(index, tmp_path, lure):
    worked, text = call(ready_sandbox(BWRAP, BwrapSettings()), tmp_path, [lure], allow_install=True)
    assert not worked and "could not be installed" in text and "no wheel" in text
    assert not (tmp_path / "ran").exists()


def test_package_that_is_not_on_the_list_is_refused_with_what_is_there(sandbox, index, tmp_path):
    worked, text = call(sandbox, tmp_path, ["kgot-extra", "networkx"], allow=("openpyxl",))
    assert not worked and "may not be installed: kgot-extra;" in text and "networkx 3" in text


def test_address_is_refused(sandbox, index, tmp_path):
    worked, text = call(sandbox, tmp_path, ["kgot-extra @ https://x.example/x.whl"], allow_install=True)
    assert not worked and "no address" in text
