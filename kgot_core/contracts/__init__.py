"""What a plugin implements. Nothing here imports a stage of the run."""
