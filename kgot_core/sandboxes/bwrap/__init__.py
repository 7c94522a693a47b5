"""Bubblewrap: namespaces of Linux, without a container engine."""
