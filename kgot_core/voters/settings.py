"""Settings of the core's own voters. Importing this loads none of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgot_core.providers import Problem


@dataclass(frozen=True)
class AdaptiveSettings:
    """``voters.adaptive.*``."""

    confidence: float = field(
        default=0.95,
        metadata={"help": "Probability, above 0 and up to 1, that all samples would choose the same"},
    )


def check_adaptive(settings: AdaptiveSettings) -> Problem | None:
    """Tells whether the probability is one that can be reached."""
    if 0 < settings.confidence <= 1:
        return None
    return Problem(f"voters.adaptive.confidence is above 0 and at most 1, not {settings.confidence:g}")


@dataclass(frozen=True)
class JudgeSettings:
    """``voters.judge.*``."""

    both_orders: bool = field(
        default=True,
        metadata={"help": "Ask twice, the second time with the candidates in reverse, so that places do not count"},
    )
