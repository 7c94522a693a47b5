"""Settings: where they are read from, which keys exist, and which files are trusted."""
