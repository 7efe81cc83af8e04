"""Ways to load and hold the policy; each backend is a module with `load_policy`."""
