"""Pure functions from scores and text to the JSON the page draws; no gradio, no files, no processes."""
