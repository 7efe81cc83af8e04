"""failed-rows: completions that the rewards could not score.

They are left out of their groups and teach nothing. A few are the way of the world; more mean that the model does not
see a kind of completion any more, which changes what it learns.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds


def failed_rows(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The share of failed rows over the window."""
    failed, scored = course.recent("rows/failed"), course.recent("rows/scored")
    if failed is None or scored is None:
        return
    share = failed.mean() / max(failed.mean() + scored.mean(), 1e-9)
    if share <= thresholds.failed_rows:
        return
    yield Diagnosis(
        "failed-rows",
        "warning",
        f"{share:.1%} of the recent completions could not be scored",
        "They are left out, so training does not see what they have in common",
        "Open the run's completions in the workbench, sort by error, and repair the reward that raises, hangs or "
        "returns no number",
        evidence={"share": share},
    )
