"""Features of completions: length for all rows, the rest in whole groups."""

from __future__ import annotations

import numpy as np

from workbench.features import features_of


def test_features_are_counted_for_texts_and_chats() -> None:
    chat = [{"role": "assistant", "content": "<a> 12"}]
    found = features_of([chat, "xyz"], ["g", "g"]).values
    assert (found["length"].tolist(), found["tags"].tolist()) == ([6.0, 3.0], [1.0, 0.0])
    assert found["digits"].tolist() == [2 / 6, 0.0]


def test_of_many_rows_whole_groups_are_read_and_a_note_says_so() -> None:
    groups = [str(row // 4) for row in range(100)]
    found = features_of(["1"] * 100, groups, measured=40)
    read = ~np.isnan(found.values["digits"])
    assert (int(read.sum()), np.isnan(found.values["length"]).any()) == (36, False)
    assert all(len(set(read[start : start + 4])) == 1 for start in range(0, 100, 4))
    assert found.notes == ("digits, tags and repetition were counted in 36 of 100 completions",)
