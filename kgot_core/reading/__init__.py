"""Tolerant readers: from a model's reply to data. They never evaluate anything."""
