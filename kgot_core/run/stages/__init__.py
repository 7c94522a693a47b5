"""The stages of a run, each one readable function: decide, enhance, compute, finish (paper, sections 3 and C)."""
