"""The Surfer agent (paper, B.4)."""
