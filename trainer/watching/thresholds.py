"""The lines the monitor's rules draw, as settings; apart from the rules, which need numpy."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Thresholds(BaseModel):
    """Where the rules draw their lines; `[train.monitor]` or `--set monitor.NAME=...` moves them.

    Shares lie in 0 to 1. `zero_spread_*`: share of groups whose completions all earn the same. `duplicates`: share of
    completions equal to another of their group. `kl_*`: nats a token. `stuck_steps`: steps before a flat reward counts.
    `length_ratio`: against the start, and its inverse downwards. `truncated_*`: share cut off. `entropy_*`: ratio to
    the start. `no_op_*`: share of steps with a gradient under 1 % of the usual. `clipped_*`: share of ratios clipped.
    `slow_ratio`: against the run's own early steps; `rewards_share`: of a step's time. `failed_rows`: share not
    scored.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    zero_spread_warn: float = Field(0.5, ge=0, le=1)
    zero_spread_critical: float = Field(0.8, ge=0, le=1)
    duplicates: float = Field(0.5, ge=0, le=1)
    kl_warn: float = Field(0.5, gt=0)
    kl_critical: float = Field(2.0, gt=0)
    kl_ratio: float = Field(20.0, gt=1)
    stuck_steps: int = Field(60, ge=1)
    length_ratio: float = Field(1.5, gt=1)
    truncated_warn: float = Field(0.1, ge=0, le=1)
    truncated_critical: float = Field(0.5, ge=0, le=1)
    entropy_warn: float = Field(0.25, ge=0, le=1)
    entropy_critical: float = Field(0.1, ge=0, le=1)
    no_op_warn: float = Field(0.3, ge=0, le=1)
    no_op_critical: float = Field(0.7, ge=0, le=1)
    clipped_warn: float = Field(0.2, ge=0, le=1)
    clipped_critical: float = Field(0.4, ge=0, le=1)
    slow_ratio: float = Field(2.0, gt=1)
    rewards_share: float = Field(0.5, gt=0, le=1)
    failed_rows: float = Field(0.02, ge=0, le=1)
