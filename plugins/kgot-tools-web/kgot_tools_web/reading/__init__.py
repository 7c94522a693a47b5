"""From what was fetched to Markdown."""
