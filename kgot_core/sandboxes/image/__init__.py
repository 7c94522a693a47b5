"""The image of the sandboxes ``docker`` and ``sarus``: its recipe, and what builds it."""
