"""What is kept of a run, and going on from it: the journal, the folder and who holds it, how far a broken run got."""
