"""What rewards are called where there is little room."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

SHOWN = """(selector) => [...document.querySelectorAll(selector)]
    .map((node) => [node.dataset.name, node.textContent, node.scrollWidth <= node.clientWidth])"""


def project_of(server: Any, names: list[str]) -> None:
    """The project with rewards of these names."""
    code = "".join(
        f"def {name}(completions, **kwargs):\n    return [{index}.0 for _ in completions]\n\n\n"
        for index, name in enumerate(names)
    )
    (server.project / "rewards.py").write_text(code)
    rewards = "".join(f'[[reward]]\nfunction = "rewards.py::{name}"\n\n' for name in names)
    (server.project / "rewardset.toml").write_text(f'[set]\nsamples = "samples.jsonl"\n\n{rewards}')


def test_names_are_whole_where_room_is_and_never_two_alike_where_it_is_not(
    open_page: Any, server: Any
) -> None:
    long = "keeps_the_layout_that_the_system_prompt_asks_for"
    names = ["format_reward", "reward_format", f"{long}_strictly", f"{long}_loosely", f"a_{long}_in_full"]
    names += [f"{'x' * 30}{middle}{'y' * 30}" for middle in ("_one_", "_two_")]
    project_of(server, names)
    for width in (1440, 800):
        page = open_page(server, viewport={"width": width, "height": 900})
        for place in ("#rw-tiles [data-name]", "#rw-head [data-name]"):
            page.wait_for_function(
                f"(selector) => ({SHOWN})(selector).every(([, , fits]) => fits)", arg=place
            )
            found = page.evaluate(SHOWN, place)
            assert [name for name, _, _ in found] == names
            assert len({text for _, text, _ in found}) == len(names), found
            said = {name: text for name, text, _ in found}
            assert said[f"{long}_strictly"].endswith("ly")
            assert "…" in said[f"{long}_strictly"]
        assert page.inner_text("#rw-tiles [data-name='format_reward']") == "format_reward"
        assert long in str(
            page.get_attribute(f"#rw-tiles .rw-tile:has([data-name='{names[2]}']) button", "title")
        )
        head = page.locator(f"#rw-head button:has([data-name='{names[2]}'])")
        assert names[2] in str(head.get_attribute("aria-label"))
        assert names[2] in str(head.get_attribute("title"))


def test_two_names_are_shown_in_full_on_a_wide_page(open_page: Any, server: Any) -> None:
    project_of(server, ["correctness_reward", "brevity_reward"])
    page = open_page(server)
    for place in ("#rw-tiles [data-name]", "#rw-head [data-name]"):
        assert [text for _, text, _ in page.evaluate(SHOWN, place)] == [
            "correctness_reward",
            "brevity_reward",
        ]
