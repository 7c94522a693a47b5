"""Reaching pages: only public ones, at a polite pace, each at most once."""
