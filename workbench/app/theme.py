"""The look of the Gradio shell; everything of our own is in `assets/app.css`."""

from __future__ import annotations

import gradio as gr


def theme() -> gr.themes.Base:
    """A dense, quiet theme with the two complete weights of the bundled IBM Plex fonts."""
    return gr.themes.Base(
        primary_hue="indigo",
        neutral_hue="slate",
        text_size="sm",
        spacing_size="sm",
        radius_size="sm",
        font=[gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "system-ui", "sans-serif"],
        font_mono=[gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700)), "ui-monospace", "monospace"],
    ).set(block_shadow="none", layout_gap="8px", block_border_width="0px")
