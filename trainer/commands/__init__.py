"""The commands of `python -m trainer`, one a file: parse, call one core function, print, exit code."""
