"""The prompts of this package."""

from functools import partial

from kgot_core.contracts.prompts import fill_prompt

fill = partial(fill_prompt, __name__)
