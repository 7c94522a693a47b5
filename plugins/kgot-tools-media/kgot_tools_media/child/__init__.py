"""What runs in the limited child process: files are read there and nowhere else."""
