"""From settings and plugins to runs: the one place where the parts are put together."""
