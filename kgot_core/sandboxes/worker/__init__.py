"""The host's side of a jail's worker: its process, the line to it, its sessions and answers."""
