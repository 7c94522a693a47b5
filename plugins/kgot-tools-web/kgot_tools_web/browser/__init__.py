"""A real browser for pages that need one."""
