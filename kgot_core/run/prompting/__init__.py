"""What requests say: the prompts, the state that they begin with, the results that they show."""
