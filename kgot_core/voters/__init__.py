"""The built-in voters."""
