"""The recipe of the image for the sandboxes ``docker`` and ``sarus``."""
