"""Completions to judge: one file per format, `recognise` picks, `read_samples` reads."""

from workbench.samples.reader import read_samples
from workbench.samples.records import LABELS, Place, Samples, Skipped

__all__ = ["LABELS", "Place", "Samples", "Skipped", "read_samples"]
