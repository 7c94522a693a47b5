"""What a script finds around it in every jail: all its environment variables, and the places of its files."""

from __future__ import annotations

PACKAGES = "/opt/packages"
"""Where packages stand that were installed for the run."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "MPLCONFIGDIR": "/tmp",
    "USER": "nobody",
    "LOGNAME": "nobody",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    # Equal runs write sets in the same order, and so give equal prompts.
    "PYTHONHASHSEED": "0",
    # Each thread of a numeric library and each arena of the C library would cost address space, which is limited.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
}
