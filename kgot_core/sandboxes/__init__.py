"""The built-in sandboxes for model-written Python."""
