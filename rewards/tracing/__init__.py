"""Partial credit of unmodified reward functions, from the code itself.

`instrument` rewrites a file so that, inside a recording, every number remembers what it was made of; nothing
else changes. `attribution` cuts a returned score into credits along that memory, `evidence` finds the places
in the completion that decided them, `explaining` puts it together for one row.

What is not followed: arrays changed through views, tables whose rows were sorted, joined or grouped, tensors, other
threads, code outside the reward's own files. A score that rests on a number which was changed that way has no credits
and is never called exact, nor is a sum that does not match the score.
"""

from rewards.tracing.explaining import Explainer, explain_row
from rewards.tracing.explanation import Credit, Line, RewardExplanation
from rewards.tracing.rewrite import instrument

__all__ = ["Credit", "Explainer", "Line", "RewardExplanation", "explain_row", "instrument"]
