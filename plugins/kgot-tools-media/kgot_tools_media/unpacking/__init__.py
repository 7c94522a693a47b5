"""Archives: their members, one by one, and the limits within which these are written."""
