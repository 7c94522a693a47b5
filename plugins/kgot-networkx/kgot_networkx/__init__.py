"""Graph backend ``networkx`` of kgot: a task graph in memory, written and queried in ordinary Python."""
