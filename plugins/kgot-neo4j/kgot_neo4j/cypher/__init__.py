"""Reads Cypher as far as is needed to split, check and mend what a model writes. Pure: no server, no driver."""
