"""Where is searched."""
