"""Our own names, the package that brings each, and how to install it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kgot_core.plugins.record import CORE
from kgot_core.providers import ProviderKind

_PACKAGES: Mapping[str, Mapping[ProviderKind, tuple[str, ...]]] = MappingProxyType(
    {
        "kgot-networkx": {"backend": ("networkx",), "format": ("graphml", "gexf")},
        "kgot-neo4j": {"backend": ("neo4j",), "format": ("cypher", "neo4j-json")},
        "kgot-rdf": {"backend": ("rdf", "rdf-remote"), "format": ("turtle", "ntriples", "jsonld")},
        "kgot-tools-web": {"tool": ("search_web", "browse_web", "visit_page", "wikipedia", "youtube_transcript")},
        "kgot-tools-media": {
            "tool": ("inspect_file", "inspect_image", "extract_archive", "transcribe_audio", "search_files")
        },
        "kgot-tools-mcp": {"tool": ("mcp",)},
        "kgot-mpi": {"scheduler": ("mpi",)},
        "kgot-ray": {"scheduler": ("ray",)},
    }
)

_ENDINGS: Mapping[str, str] = MappingProxyType(
    {
        ".graphml": "graphml",
        ".gexf": "gexf",
        ".cypher": "cypher",
        ".neo4j.json": "neo4j-json",
        ".ttl": "turtle",
        ".nt": "ntriples",
        ".jsonld": "jsonld",
    }
)

_EXTRAS: Mapping[str, str] = MappingProxyType({"openai": "langchain-openai", "ollama": "langchain-ollama"})


def package_of(kind: ProviderKind, name: str) -> str:
    """Names the package that brings one of our own providers; empty for a name that is not ours."""
    for package, kinds in _PACKAGES.items():
        if name in kinds.get(kind, ()):
            return package
    return ""


def package_for(name: str) -> str:
    """Names the package that brings something of our own, whatever its kind; empty for a name that is not ours."""
    return next((package for package, kinds in _PACKAGES.items() for names in kinds.values() if name in names), "")


def format_of(name: str) -> tuple[str, str]:
    """Gives the format of our own plugins that a file's ending means, and the ending; both empty for another one."""
    fitting = [ending for ending in _ENDINGS if name.lower().endswith(ending)]
    ending = max(fitting, key=len, default="")
    return _ENDINGS.get(ending, ""), ending


def is_ours(package: str) -> bool:
    """Tells whether a package is one of the project's own plugins."""
    return package in _PACKAGES


def known_names(kind: ProviderKind) -> list[str]:
    """Lists our own names of a kind, installed or not."""
    return [name for kinds in _PACKAGES.values() for name in kinds.get(kind, ())]


def install_hint(package: str) -> str:
    """Gives the commands that install a plugin beside the core.

    Args:
        package: Name of the plugin's package.

    Returns:
        One line with the command of pip, of uv (for an environment and for a tool of its own) and of pipx.
    """
    return (
        f"pip install {package}  |  uv pip install {package}  |  "
        f"uv tool install {CORE} --with {package}  |  pipx inject {CORE} {package}"
    )


def extra_hint(extra: str) -> str:
    """Gives the commands that install an extra of the core, which a built-in model provider needs.

    Args:
        extra: Name of the extra: ``openai`` or ``ollama``.
    """
    target = f"'{CORE}[{extra}]'"
    return (
        f"pip install {target}  |  uv pip install {target}  |  "
        f"uv tool install {target}  |  pipx inject {CORE} {_EXTRAS.get(extra, extra)}"
    )
