"""The boundary around user code: it never runs in the process that serves a person or a training run."""

from rewards.running.crew import Crew
from rewards.running.runner import LOAD_TIMEOUT_S, Runner
from rewards.running.worker import GivenUp, Worker

__all__ = ["LOAD_TIMEOUT_S", "Crew", "GivenUp", "Runner", "Worker"]
