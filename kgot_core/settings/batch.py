"""The settings of a batch of tasks, ``batch.*``. What each of its runs may do is set as for a single run."""

from __future__ import annotations

from dataclasses import dataclass

from kgot_core.settings.fields import setting


@dataclass(frozen=True)
class BatchSettings:
    """``batch.*``: many tasks together."""

    jobs: int = setting(4, "tasks at once in one process", matters=False, minimum=1)
    max_cost: float | None = setting(
        None, "US dollars that all tasks together may cost; refused where a price is unknown", matters=False, above=0
    )
    max_tokens: int | None = setting(
        None, "prompt and reply tokens that all tasks together may use", matters=False, minimum=1
    )
    patience: float = setting(
        0.0, "seconds without any task begun or ended after which a batch ends; 0 waits on", matters=False, minimum=0
    )
