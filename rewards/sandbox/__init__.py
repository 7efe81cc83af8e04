"""The sandbox for model-written code, and the verdict on programs.

    Sandbox       runs programs at the best level the machine offers
    grade         tests on this side, the program on the other, only plain values between them
    read_tests    the tests in the columns of a row
    Level         how strongly programs are shut in; `doctor` tells which level there is

Model-written code is not run below the level asked for, unless the user says so (`--unsafe-code`).
"""

from __future__ import annotations

from rewards.sandbox.grading import Outcome, TestsError, Verdict, grade, grade_all
from rewards.sandbox.job import Job, Result
from rewards.sandbox.level import DECLARED, Level
from rewards.sandbox.sandbox import Sandbox, close_all
from rewards.sandbox.server import Limits
from rewards.sandbox.task import read_tests

__all__ = [
    "DECLARED",
    "Job",
    "Level",
    "Limits",
    "Outcome",
    "Result",
    "Sandbox",
    "TestsError",
    "Verdict",
    "close_all",
    "grade",
    "grade_all",
    "read_tests",
]
