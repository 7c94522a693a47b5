"""What is said of the settings ``loop.*`` and ``caps.*``, whose classes are contracts that a run uses too."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgot_core.contracts.options import Caps, LoopLimits

LOOP: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "num_next_steps_decision": {"help": "votes on Solve or Enhance in each iteration", "minimum": 1},
        "max_retrieve_query_retry": {"help": "new queries after one that could not be used", "minimum": 0},
        "max_query_fixing_retry": {"help": "repairs of one statement that fails", "minimum": 0},
        "max_final_solution_parsing": {"help": "samples of the final parse", "minimum": 1},
        "max_tool_retries": {"help": "retries of a tool call whose error may pass", "minimum": 0, "matters": False},
        "max_iterations": {"help": "Enhance rounds", "minimum": 0},
        "max_llm_attempts": {"help": "attempts of one model request", "minimum": 1, "matters": False},
    }
)
"""What is said of the fields of :class:`~kgot_core.contracts.options.LoopLimits`, the settings ``loop.*``."""


def loop_limits() -> LoopLimits:
    """Gives the defaults of ``loop.*``."""
    from kgot_core.contracts.options import LoopLimits  # costs more than all other modules of settings

    return LoopLimits()


CAPS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "max_cost": {
            "help": "US dollars that a run may cost; refused where a price is unknown",
            "above": 0,
            "matters": False,
        },
        "max_tokens": {"help": "prompt and reply tokens that a run may use", "minimum": 1, "matters": False},
        "deadline": {"help": "seconds that a run may take", "above": 0, "matters": False},
        "reserve": {
            "help": "share of each cap that is kept for the last answer, and at least room for it; 0 keeps none",
            "minimum": 0,
            "matters": False,
        },
    }
)
"""What is said of the fields of :class:`~kgot_core.contracts.options.Caps`, the settings ``caps.*``."""


def caps() -> Caps:
    """Gives the defaults of ``caps.*``: none is set."""
    from kgot_core.contracts.options import Caps

    return Caps()
