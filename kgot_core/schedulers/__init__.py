"""The built-in schedulers."""
