"""``kgot plugins``: every plugin is one line, a broken one is explained, and nothing stops the command line."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import kgot_core

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"
_made = runpy.run_path(str(FIXTURES / "install.py"))
install, GOOD = _made["install"], _made["GOOD"]
ROOT = Path(kgot_core.__file__).parents[1]

STORE = GOOD.replace("ToolProvider", "BackendProvider").replace("kgot_tools", "kgot_graph_backends").replace(
    "create=", "open="
)  # fmt: skip


HALFWAY = """
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import ToolProvider

@hookimpl
def kgot_tools():
    yield ToolProvider(name="half", summary="", create=lambda settings, context: [])
    raise ValueError("half way")
"""

MAIN = "from kgot_core.cli import main; main()"
# As if one of our own plugins, which are all installed here, were not.
WITHOUT_RAY = """
from importlib import metadata
every = metadata.distributions
metadata.distributions = lambda: [found for found in every() if found.name != "kgot-ray"]
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


def kgot(site: Path, *arguments: str, code: str = MAIN, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the real program with the packages of ``site`` on its import path, in the folder of ``site``."""
    given = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
        "KGOT_CONFIG_DIR": str(site.parent / "config"),
        **env,
    }
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=site.parent, env=given, capture_output=True, text=True, timeout=60
    )


def listed(site: Path, *arguments: str, **env: str) -> dict[str, dict[str, object]]:
    done = kgot(site, "plugins", "list", "--json", *arguments, **env)
    return {record["distribution"]: record for record in json.loads(done.stdout)}


def test_bad_plugins_are_one_line_each_and_the_good_one_is_there(site: Path) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    install(site, "kgot-bad", "import not_there")
    install(site, "kgot-halfway", HALFWAY)
    install(site, "kgot-quits", "import sys; sys.exit(9)")
    install(site, "kgot-old", GOOD.format(name="old"), requires=["kgot-core>=99"])

    done = kgot(site, "plugins", "list")
    assert done.returncode == 0
    warnings = done.stderr.splitlines()
    assert len(warnings) == 4
    for package, cause in {
        "kgot-bad": "ModuleNotFoundError: No module named 'not_there'",
        "kgot-halfway": "ValueError: half way",
        "kgot-quits": "SystemExit: 9",
        "kgot-old": "it needs kgot-core>=99",
    }.items():
        assert len([line for line in warnings if package in line and cause in line]) == 1
        assert len([line for line in done.stdout.splitlines() if line.startswith(f"{package} ")]) == 1
    assert "good_tool" in done.stdout
    assert "Traceback" not in done.stderr

    records = listed(site)
    states = {name: record["state"] for name, record in records.items()}
    assert states["kgot-good"] == "ok"
    assert [states[name] for name in ("kgot-bad", "kgot-halfway", "kgot-quits")] == ["broken"] * 3
    assert states["kgot-old"] == "incompatible"
    assert records["kgot-good"]["providers"] == [{"kind": "tool", "name": "good_tool", "summary": "A tool."}]
    assert records["kgot-halfway"]["providers"] == []


@pytest.mark.parametrize(
    ("arguments", "env", "code"),
    [
        ([], {}, 0),
        (["--strict"], {}, 1),
        ([], {"KGOT_PLUGINS__STRICT": "true"}, 1),
        (["--set", "plugins.strict=yes"], {}, 1),
        (["--strict", "--set", "plugins.disabled=kgot-bad"], {}, 0),
        (["--strict", "--json"], {}, 1),
    ],
)
def test_the_strict_switch(arguments: list[str], env: dict[str, str], code: int, site: Path) -> None:
    install(site, "kgot-bad", "import not_there")
    done = kgot(site, "plugins", "list", *arguments, **env)
    assert done.returncode == code
    assert "kgot-bad" in done.stdout


def test_strict_ends_every_command_that_would_use_the_plugins(site: Path) -> None:
    install(site, "kgot-bad", "import not_there")
    done = kgot(site, "config", "show", KGOT_PLUGINS__STRICT="1")
    assert done.returncode == 2
    assert "kgot: plugins that cannot be used: kgot-bad" in done.stderr
    assert kgot(site, "config", "show").returncode == 0


def test_a_disabled_plugin_is_listed_as_such_and_not_warned_of(site: Path) -> None:
    install(site, "kgot-bad", "import not_there")
    done = kgot(site, "plugins", "list", KGOT_PLUGINS__DISABLED="kgot-bad")
    assert done.stderr == ""
    assert "disabled" in done.stdout


def test_show_gives_settings_types_defaults_and_help(site: Path) -> None:
    done = kgot(site, "plugins", "show", "greet", "--plugin", str(FIXTURES / "own_tool.py"))
    assert done.returncode == 0
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "hooks kgot_graph_backends, kgot_tools" in lines
    assert "tool greet: Greets somebody." in lines
    assert 'tools.greet.greeting "hello" text the word to begin with' in lines
    assert "tools.greet.token (secret) text key of the service" in lines
    assert "tools.greet.retries 2 a whole number attempts" in lines


def test_show_gives_the_trace_of_a_broken_plugin(site: Path) -> None:
    install(site, "kgot-bad", "import helper_of_bad", files={"helper_of_bad.py": "answer = 1 / 0"})
    done = kgot(site, "plugins", "show", "kgot-bad")
    assert done.returncode == 0
    assert "kgot-bad 1.0 broken" in done.stdout
    assert "answer = 1 / 0" in done.stdout
    assert "ZeroDivisionError: division by zero" in done.stdout


def test_show_of_what_is_not_there(site: Path) -> None:
    ours = kgot(site, "plugins", "show", "ray", code=WITHOUT_RAY + MAIN)
    assert ours.returncode == 2
    assert "kgot-ray, which brings ray, is not installed" in ours.stderr
    assert "pip install kgot-ray" in ours.stderr
    near = kgot(site, "plugins", "show", "kgot-cor")
    assert near.returncode == 2
    assert near.stderr.splitlines() == ["kgot: there is no plugin kgot-cor", "      did you mean kgot-core?"]


def test_two_plugins_with_one_name_are_both_listed(site: Path) -> None:
    install(site, "kgot-rdf", STORE.format(name="rdf"), entry="mytool")
    install(site, "other-rdf", STORE.format(name="rdf"), entry="mytool")
    done = kgot(site, "plugins", "list")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "kgot: the backend rdf is offered by kgot-rdf and other-rdf; choose with kgot-rdf:rdf or other-rdf:rdf"
    ]
    assert {"kgot-rdf", "other-rdf"} <= set(listed(site))
    shown = kgot(site, "plugins", "show", "rdf").stdout
    assert "kgot-rdf 1.0 ok" in shown
    assert "other-rdf 1.0 ok" in shown


def test_a_package_seen_twice_is_listed_once_without_a_word(site: Path) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    (site.parent / "lib64").symlink_to(site, target_is_directory=True)
    path = os.pathsep.join([str(site), str(site.parent / "lib64"), str(ROOT)])
    done = kgot(site, "plugins", "list", PYTHONPATH=path)
    assert done.stderr == ""
    assert done.stdout.count("kgot-good") == 1


def test_own_modules_and_files_are_loaded_by_option_and_by_setting(site: Path) -> None:
    (site / "my_module.py").write_text(GOOD.format(name="from_module"))
    (site.parent / "config").mkdir()
    (site.parent / "config" / "mine.py").write_text(GOOD.format(name="from_file"))
    (site.parent / "config" / "kgot.toml").write_text("plugins.load = ['mine.py']")
    assert {"my_module", "mine"} <= set(listed(site, "--plugin", "my_module"))


@pytest.mark.parametrize("plugin", ["none_such", "none_such.py", "./site", "site/broken.py"])
def test_an_own_plugin_that_cannot_be_loaded_is_one_clear_error(plugin: str, site: Path) -> None:
    (site / "broken.py").write_text("x = (")
    done = kgot(site, "plugins", "list", "--plugin", plugin)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"kgot: the plugin {plugin} cannot be used: ")
    assert "Traceback" not in done.stderr
