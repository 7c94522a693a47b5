"""The scheduler ``mpi`` of kgot: a batch over the ranks of an MPI job, with work stealing (paper, 3.4 and B.5)."""
