"""One task from question to answer. Read in order: controller, decide, enhance, retrieve, compute, finish."""
