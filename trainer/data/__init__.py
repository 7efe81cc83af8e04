"""The prompts of a training, and those kept out of it."""
