"""The models a run works with: found by name, loaded, made for tests, asked for text."""
