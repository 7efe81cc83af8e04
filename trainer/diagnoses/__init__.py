"""The diagnoses of a run, one a file; the docstring of each file is its manual page."""

from __future__ import annotations

from trainer.diagnoses.clipping import clipping
from trainer.diagnoses.component_divergence import component_divergence
from trainer.diagnoses.course import Course, Facts
from trainer.diagnoses.diagnosis import Diagnosis, Rule
from trainer.diagnoses.entropy import entropy
from trainer.diagnoses.failed_rows import failed_rows
from trainer.diagnoses.format_ignored import format_ignored
from trainer.diagnoses.gradient_spikes import gradient_spikes
from trainer.diagnoses.kl import kl
from trainer.diagnoses.length import length
from trainer.diagnoses.mode_collapse import mode_collapse
from trainer.diagnoses.no_op_steps import no_op_steps
from trainer.diagnoses.no_signal import no_signal
from trainer.diagnoses.non_finite import non_finite
from trainer.diagnoses.oracle import oracle
from trainer.diagnoses.out_of_memory import out_of_memory
from trainer.diagnoses.saturated import saturated
from trainer.diagnoses.slow_step import slow_step
from trainer.diagnoses.stuck import stuck
from trainer.diagnoses.truncation import truncation
from trainer.watching.thresholds import Thresholds

RULES: dict[str, Rule] = {
    "non-finite": non_finite,
    "no-signal": no_signal,
    "mode-collapse": mode_collapse,
    "saturated": saturated,
    "stuck": stuck,
    "component-divergence": component_divergence,
    "oracle": oracle,
    "format-ignored": format_ignored,
    "kl": kl,
    "entropy": entropy,
    "length": length,
    "truncation": truncation,
    "no-op-steps": no_op_steps,
    "gradient-spikes": gradient_spikes,
    "clipping": clipping,
    "slow-step": slow_step,
    "failed-rows": failed_rows,
}
"""Name -> rule, in the order they are asked. `out-of-memory` has no rule: it is made when it happens."""

__all__ = ["RULES", "Course", "Diagnosis", "Facts", "Rule", "Thresholds", "out_of_memory"]
