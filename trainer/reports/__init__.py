"""What a run leaves to be read: the page, the model card, the way to make it again."""
