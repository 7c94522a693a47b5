"""The scheduler ``ray`` of kgot: a batch over the nodes of a Ray cluster, on Ray's own tasks and retries."""
