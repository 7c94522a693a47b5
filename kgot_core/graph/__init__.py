"""The neutral task graph: elements, changes, folding, text, and the fact language."""
