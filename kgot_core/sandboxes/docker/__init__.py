"""Docker: a container a session, on the user's engine."""
