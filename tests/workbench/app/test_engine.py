"""The engine with real processes: what a desk relies on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.errors import LoadError, MissingColumnError
from rewards.running import Runner
from workbench.app.engine import ProcessEngine, Step, held
from workbench.app.leash import Stopped
from workbench.samples import Samples, read_samples


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(spawn=True) as made:
        yield made


@pytest.fixture
def samples(project: Path) -> Samples:
    return held(read_samples([project / "samples.jsonl"]))


def quiet(step: Step) -> None:
    """Progress nobody looks at."""


def test_a_board_holds_scores_ranges_weights_and_samples(
    runner: Runner, project: Path, samples: Samples
) -> None:
    steps: list[str] = []
    board = ProcessEngine(runner).score(str(project), samples, lambda step: steps.append(step.name))
    assert board.names == ["shaped", "correct"]
    assert steps[0] == "shaped"
    assert board.cells(0) == [1.0, 1.0]
    assert board.cells(2) == [0.0, None]
    assert [(c.weight, c.low, c.high, c.declared) for c in board.columns] == [
        (0.5, 0, 1, True),
        (1, 0, 1, True),
    ]
    assert board.labels[3] == "partial"


def test_an_edit_calls_only_the_rewards_it_changes(runner: Runner, project: Path, samples: Samples) -> None:
    engine = ProcessEngine(runner)
    before = engine.score(str(project), samples, quiet)
    text = (project / "rewards.py").read_text()
    (project / "rewards.py").write_text(text.replace("score += 0.25", "score += 0.125"))
    steps: list[Step] = []
    after = engine.score(str(project), samples, steps.append)
    assert after.table is not None
    assert after.table.reused == {"shaped": 0, "correct": len(samples)}
    assert {step.name for step in steps} <= {"shaped"}
    assert (after.scores[:, 0] != before.scores[:, 0]).any()
    assert (after.status[:, 1] == before.status[:, 1]).all()


def test_a_file_that_does_not_load_is_one_sentence(runner: Runner, project: Path, samples: Samples) -> None:
    (project / "rewards.py").write_text("def shaped(completions:\n")
    with pytest.raises(LoadError, match=r"rewards\.py, line 1: SyntaxError"):
        ProcessEngine(runner).score(str(project), samples, quiet)


def test_a_missing_column_is_named(runner: Runner, project: Path, samples: Samples) -> None:
    text = (project / "rewards.py").read_text().replace("answer, **", "solution, **")
    (project / "rewards.py").write_text(text)
    with pytest.raises(MissingColumnError, match="solution"):
        ProcessEngine(runner).score(str(project), samples, quiet)


@pytest.mark.parametrize("where", ["import", "call"])
def test_an_endless_loop_is_stopped_from_another_thread(
    runner: Runner, project: Path, samples: Samples, where: str
) -> None:
    loop = "while True:\n    pass\n"
    inside = "def shaped(completions, **kwargs):\n    while True:\n        pass\n"
    rest = "\ndef correct(completions, **kwargs):\n    return [0.0] * len(completions)\n"
    (project / "rewards.py").write_text((loop if where == "import" else inside) + rest)
    engine = ProcessEngine(runner)
    threading.Timer(0.4, engine.stop).start()
    with pytest.raises(Stopped):
        engine.score(str(project), samples, quiet)


def test_stopping_ends_only_what_ran_and_the_next_run_works(
    runner: Runner, project: Path, samples: Samples
) -> None:
    engine = ProcessEngine(runner)
    engine.stop()
    assert len(engine.score(str(project), samples, quiet)) == 6


def test_the_rows_are_sent_to_the_template_once(runner: Runner, samples: Samples) -> None:
    assert samples.batch() is samples.batch()


def test_rows_are_explained_by_a_warm_process(runner: Runner, project: Path, samples: Samples) -> None:
    engine = ProcessEngine(runner)
    first = engine.explain(str(project), samples, 0)
    shaped = first["rewards"][0]
    assert (shaped["score"], shaped["exact"]) == (1.0, True)
    assert sum(credit["points"] for credit in shaped["credits"]) == 1.0
    warm = engine._explainer._warm
    assert engine.explain(str(project), samples, 2)["rewards"][1]["score"] is None
    assert engine._explainer._warm is warm
    engine.close()


def test_an_explanation_that_hangs_is_stopped(runner: Runner, project: Path, samples: Samples) -> None:
    (project / "rewards.py").write_text(
        "def shaped(completions, **kwargs):\n    while True:\n        pass\n\n\n"
        "def correct(completions, **kwargs):\n    return [0.0] * len(completions)\n"
    )
    engine = ProcessEngine(runner)
    threading.Timer(0.4, engine._explainer.stop).start()
    with pytest.raises(Stopped):
        engine.explain(str(project), samples, 0)
    engine.close()


def test_an_explanation_that_hangs_makes_way_for_the_next_one(
    runner: Runner, project: Path, samples: Samples, tmp_path: Path
) -> None:
    (tmp_path / "endless.py").write_text("def r(completions, **kwargs):\n    while True: pass\n")
    engine = ProcessEngine(runner)
    ended: list[BaseException] = []

    def hang() -> None:
        try:
            engine.explain(str(tmp_path / "endless.py"), samples, 0)
        except Stopped as error:
            ended.append(error)

    thread = threading.Thread(target=hang)
    thread.start()
    time.sleep(1.0)
    assert engine.explain(str(project), samples, 0)["row"] == 0
    thread.join(10)
    assert len(ended) == 1
    engine.close()
