"""Things that happen at the same time: threads that may hang, calls side by side, turns."""
