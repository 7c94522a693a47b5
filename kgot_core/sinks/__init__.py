"""The built-in event sinks: where a run's events go."""
