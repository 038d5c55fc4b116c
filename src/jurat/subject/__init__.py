"""What is under evaluation: a model with a prompt, a person's function, a server. All speak `jurat.evaluation.subject`."""
