"""Many tasks together: read, ordered, run by a scheduler, recorded, and gone on with."""
