"""The Gradio app: a thin face over the same functions the command line calls.

Gradio serves the page, the theme and the code editor. Everything that has many rows or shows model text is
our own HTML, filled by `assets/*.js` from the JSON routes in `routes.py`, and always by `textContent`. The app
registers no Python callback with Gradio at all, so Gradio's own endpoints have nothing to execute; what a page
may ask for is the short list of routes, and every one of them stands behind `guard.py`.

    guard.py      who may talk to the app at all
    launch.py     environment, settings and port of the server
    page.py       the Gradio shell, theme.py its look
    routes.py     JSON in, JSON out
    bench.py      the opened project; desk.py one visitor's work on it
    engine.py     scores and explanations from worker processes; user code never runs in this process
    drafts.py     nothing typed is lost; saving.py writing the user's file whole or not at all
    view/         pure functions from scores and text to the JSON the page draws
"""
