"""The built-in solvers: how a graph gives an answer."""
