"""The Gradio shell of the page: editor and empty places, which `assets/app.js` fills.

Gradio holds no Python callback here. The two events are JavaScript only: each change of the editor goes to
`RW.edited`, and a hidden button puts a text from elsewhere (another file, a changed disk) into the editor. All
HTML below is constant; text of models and users reaches the page as JSON alone.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

TITLE = "Reward Workbench"
ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "core.js",
    "names.js",
    "tabs.js",
    "indent.js",
    "editor.js",
    "margin.js",
    "weights.js",
    "tiles.js",
    "table.js",
    "detail.js",
    "generate.js",
    "samples.js",
    "distributions.js",
    "check.js",
    "compare.js",
    "label.js",
    "record.js",
    "train.js",
    "result.js",
    "tour.js",
    "app.js",
)

HEAD = """<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="rw/assets/app.css">
<link rel="stylesheet" href="rw/assets/training.css">
<link rel="icon" href="rw/assets/icon.svg" type="image/svg+xml">
""" + "\n".join(f'<script src="rw/assets/{name}" defer></script>' for name in SCRIPTS)


def build_page(*, read_only: bool = False) -> gr.Blocks:
    """The page as a Gradio app; it knows nothing of any project."""
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True, fill_height=True) as page:
        _part("bar")
        with gr.Row(elem_id="rw-main"):
            with gr.Column(elem_id="rw-left", min_width=0):
                _part("file")
                code = gr.Code(
                    "# opening"
                    if read_only
                    else None,  # an empty one that cannot be edited is drawn without an editor
                    language="python",
                    interactive=not read_only,
                    elem_id="rw-editor",
                    label="Reward code",
                    show_label=False,
                    container=False,
                    lines=4,
                    buttons=[],
                )
                _part("under")
            _part("results")
        _part("pages")
        place = gr.Button("Place text", elem_id="rw-place", visible="hidden")
    with page:
        code.input(None, [code], None, js="(text) => { window.RW?.edited(text) }", show_progress="hidden")
        place.click(None, None, [code], js="() => window.RW.textToPlace", show_progress="hidden")
    return page


def _part(name: str) -> None:
    """A constant piece of the page; Gradio never touches it again, so scripts may fill it."""
    markup = (ASSETS / f"{name}.html").read_text(encoding="utf-8")
    gr.HTML(
        value="",
        html_template=markup,
        js_on_load="",
        elem_id=f"rw-{name}",
        apply_default_css=False,
        container=False,
    )
