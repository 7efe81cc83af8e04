"""GRPO from a sealed reward set: settings, data, run, run folder, merge, comparison."""
