"""The prompts, one Markdown file each, with ${slot} places."""
