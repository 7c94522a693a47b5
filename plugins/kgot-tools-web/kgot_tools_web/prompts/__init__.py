"""The prompts of this package."""
