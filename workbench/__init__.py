"""The bench: samples, scoring, explanation, checks, reports, and their faces (command line, app, pytest plugin)."""
