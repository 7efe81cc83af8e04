"""Two calls over the same rows: each cause is told by its own check, and by no other."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.workbench.checks.conftest import sum_rows
from workbench.checks.steadiness import CLOCKS, MORE_CLOCKS

ONE_CAUSE = {
    "RW201": """
    import random

    def reward(completions, **kwargs):
        return [random.random() for _ in completions]
    """,
    "RW203": """
    SEEN = []

    def reward(completions, **kwargs):
        SEEN.append(1)
        return [len(SEEN) / 100 for _ in completions]
    """,
    "RW204": """
    def reward(completions, **kwargs):
        sizes = [len(c[-1]["content"]) for c in completions]
        return [size / max(sizes) for size in sizes]
    """,
    "RW205": """
    def reward(completions, answer, **kwargs):
        return [float(answer[0] in c[-1]["content"]) for c in completions]
    """,
    "RW206": """
    def reward(completions, **kwargs):
        seen, scores = set(), []
        for c in completions:
            text = c[-1]["content"]
            scores.append(0.0 if text in seen else len(text) / 100)
            seen.add(text)
        return scores
    """,
}


@pytest.mark.parametrize("code", sorted(ONE_CAUSE))
def test_each_cause_is_told_once_by_its_own_check(check, code):
    rows = None
    if code == "RW206":  # no two samples are alike, so that only copies show it
        rows = [
            {
                "prompt": [{"role": "user", "content": "Go."}],
                "completion": [{"role": "assistant", "content": "a" * n}],
            }
            for n in (3, 8, 11, 20)
        ]
        [finding] = [f for f in check(ONE_CAUSE[code], "RW20", rows=rows) if f.at_least("warning")]
    else:
        [finding] = [f for f in check(ONE_CAUSE[code], "RW20") if f.at_least("warning")]
    assert finding.check == code
    assert finding.severity == "error"
    first, then = finding.evidence.got
    assert first != then
    assert finding.evidence.completion is not None


def test_healthy_reward_is_steady(check, healthy):
    assert check(healthy, "RW20") == []


def test_the_clock_decides(check):
    source = """
    import time

    def reward(completions, **kwargs):
        return [0.1 * (int(time.time() / 60) % 3) for _ in completions]
    """
    [finding] = check(source, "RW201")
    assert "at another time of day" in finding.message


def test_the_clock_of_datetime_decides(check):
    source = """
    from datetime import datetime
    import time

    def reward(completions, **kwargs):
        return [float(datetime.now().day % 2) + float(datetime.now().hour % 3) for _ in completions]
    """
    [finding] = check(source, "RW201")
    assert finding.cause == "RW201:clock"


def test_no_hour_is_at_all_the_times_tried_like_it_was_by_chance():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    times = [timedelta(seconds=forward) for forward in (*CLOCKS, *MORE_CLOCKS)]
    readers = (
        lambda at: at.day % 2 + at.hour % 3,
        lambda at: at.weekday(),
        lambda at: at.hour < 12,
        lambda at: at.day,
        lambda at: at.hour,
    )
    for reader in readers:
        for hour in range(24 * 365):
            start = now + timedelta(hours=hour, minutes=hour % 60)
            assert any(reader(start) != reader(start + forward) for forward in times)


def test_scores_that_depend_on_the_other_rows_are_not_laid_to_the_clock(check):
    source = """
    def reward(completions, **kwargs):
        times = [len(c[-1]["content"]) for c in completions]
        return [len(completions) / 100 + time / 10_000 for time in times]
    """
    assert "RW201" not in {finding.check for finding in check(source, "RW20")}


def test_chance_that_is_declared_is_left_alone(check):
    assert check(ONE_CAUSE["RW201"], "RW20", declare="deterministic = false") == []


def test_a_bounded_cache_of_a_pure_function_is_left_alone(check):
    source = """
    import functools

    @functools.lru_cache(maxsize=4)
    def size(text):
        return len(text) / 100

    def reward(completions, **kwargs):
        return [size(c[-1]["content"]) for c in completions]
    """
    assert check(source, "RW20") == []


def test_a_score_kept_under_the_prompt_alone_is_told(check):
    source = """
    CACHE = {}

    def reward(prompts, completions, answer, **kwargs):
        scores = []
        for p, c, a in zip(prompts, completions, answer):
            scores.append(CACHE.setdefault(str(p), float(f"<answer>{a}</answer>" in c[-1]["content"])))
        return scores
    """
    [finding] = check(source, "RW20")
    assert finding.check in ("RW203", "RW205")


def test_comparing_the_completions_of_a_prompt_is_told_as_information_unless_declared(check):
    source = """
    def reward(prompts, completions, **kwargs):
        texts = [c[-1]["content"] for c in completions]
        scores = []
        for p, t in zip(prompts, texts):
            best = max(len(o) for q, o in zip(prompts, texts) if q == p)
            scores.append(len(t) / best)
        return scores
    """
    [finding] = check(source, "RW20")
    assert (finding.check, finding.severity) == ("RW204", "info")
    assert check(source, "RW20", declare='scope = "group"') == []
    [finding] = check(source, "RW20", declare='scope = "row"')
    assert (finding.check, finding.severity) == ("RW204", "error")


def test_a_group_reward_that_looks_at_other_prompts_is_told(check):
    [finding] = check(ONE_CAUSE["RW204"], "RW20", declare='scope = "group"')
    assert finding.check == "RW204"
    assert "its own group" in finding.message


def test_a_column_more_changes_the_scores(check):
    source = """
    def reward(completions, **kwargs):
        return [len(kwargs) / 10 for _ in completions]
    """
    [finding] = check(source, "RW20")
    assert (finding.check, finding.severity) == ("RW207", "warning")
    assert "data_source_note" in finding.message


def test_scores_that_depend_on_the_hash_seed_are_told(check):
    source = """
    def reward(completions, **kwargs):
        return [(hash(c[-1]["content"]) % 1000) / 1000 for c in completions]
    """
    [finding] = check(source, "RW202")
    assert finding.severity == "error"
    assert "PYTHONHASHSEED=" in finding.message


FIRST_MISS = """
def reward(completions, **kwargs):
    scores = []
    for c in completions:
        text, found = c[-1]["content"], 0
        for name in WANTED:
            if name not in text:
                break
            found += 1
        scores.append(found / 4)
    return scores
"""


@pytest.mark.parametrize(("order", "found"), [("set(WORDS)", True), ("sorted(set(WORDS))", False)])
def test_loop_over_a_set_that_stops_at_the_first_miss_is_found_on_parts_of_samples(check, order, found):
    texts = ["Ada and Ben and Cleo and Dan", "nobody at all"]
    rows = [
        {
            "prompt": [{"role": "user", "content": "Who came?"}],
            "completion": [{"role": "assistant", "content": text}],
        }
        for text in texts
    ]
    source = FIRST_MISS.replace("WANTED", order).replace("WORDS", '("Ada", "Ben", "Cleo", "Dan")')
    findings = check(source, "RW202", rows=rows)
    assert [f.check for f in findings] == ["RW202"] * found
    if found:
        assert findings[0].evidence.completion[0]["content"] not in texts


def test_membership_in_a_set_is_no_order(check):
    source = """
    def reward(completions, **kwargs):
        known = {"It", "Count", "<answer>4</answer>"}
        return [sum(word in known for word in c[-1]["content"].split()) / 10 for c in completions]
    """
    assert check(source, "RW202") == []


def test_cache_that_forgets_the_completion_is_kept_state(check):
    source = """
    KNOWN = {}

    def reward(prompts, completions, answer, **kwargs):
        for prompt, c, a in zip(prompts, completions, answer):
            KNOWN.setdefault(str(prompt), float(f">{a}<" in c[-1]["content"]))
        return [KNOWN[str(prompt)] for prompt in prompts]
    """
    [finding] = check(source, "RW20")
    assert finding.check == "RW203"
    assert "the score of an earlier one" in finding.message


def test_draw_from_the_global_generator_is_chance_and_no_state(check):
    source = """
    import random

    def reward(completions, answer, **kwargs):
        draws = [random.choice([0.0, 1.0]) for _ in completions]
        return [draw * (f">{a}<" in c[-1]["content"]) for draw, c, a in zip(draws, completions, answer)]
    """
    [finding] = check(source, "RW20")
    assert finding.check == "RW201"


BEST = """
def reward(completions, answer, **kwargs):
    raw = [len(set(str(c)) & set(str(a) + "<>/")) for c, a in zip(completions, answer)]
    best = max(raw) or 1
    return [r / best for r in raw]
"""


def test_division_by_the_best_of_the_batch_is_no_comparison_within_a_group(check):
    rows = sum_rows()
    for row in rows[:4]:
        row["completion"] = [
            {"role": "assistant", "content": row["completion"][0]["content"].replace("/", "")}
        ]
    [finding] = check(BEST, "RW20", rows=rows)
    assert (finding.check, finding.severity) == ("RW204", "error")


def test_reward_that_cannot_know_the_groups_is_not_said_to_compare_within_them(check):
    source = """
    def reward(completions, **kwargs):
        texts = [c[-1]["content"] for c in completions]
        return [1.0 / texts.count(t) for t in texts]
    """
    rows = [{**row, "completion": sum_rows()[0]["completion"]} for row in sum_rows()[:4]] + sum_rows()[4:]
    assert ("RW204", "info") not in {(f.check, f.severity) for f in check(source, "RW20", rows=rows)}


def test_groups_taken_by_their_place_in_the_call_are_told(check):
    source = """
    def reward(completions, **kwargs):
        texts = [c[-1]["content"] for c in completions]
        groups = [texts[i // 4 * 4 : i // 4 * 4 + 4] for i in range(len(texts))]
        return [len(t) / max(map(len, g)) for t, g in zip(texts, groups)]
    """
    rows = sum_rows() + [
        {**row, "prompt": [{"role": "user", "content": "Once more?"}]} for row in sum_rows()[:4]
    ]
    [finding] = check(source, "RW20", rows=rows, declare='scope = "group"')
    assert (finding.check, finding.severity) == ("RW205", "error")
    by_run = """
    import itertools
    def reward(prompts, completions, **kwargs):
        scores = []
        for _, run in itertools.groupby(zip(prompts, completions), key=lambda pair: str(pair[0])):
            texts = [c[-1]["content"] for _, c in run]
            scores += [len(t) / max(map(len, texts)) for t in texts]
        return scores
    """
    assert check(by_run, "RW20", rows=rows, declare='scope = "group"') == []
