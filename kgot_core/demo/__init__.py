"""The offline demo: a real task on a real table; only the model's replies are recorded."""
