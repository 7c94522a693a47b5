"""The built-in strategies: who runs the whole task."""
