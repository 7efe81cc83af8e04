"""The errors of Reward Workbench.

Every error a user can cause is one clear sentence (what, where, what instead) and carries the exit code
that ends a command. Anything else that escapes is a fault of ours and shows its traceback.

    RewardWorkbenchError
    ├── UsageError               2   wrong use or unreadable input
    │   ├── TargetError              no such file, function or project
    │   ├── ManifestError            rewardset.toml cannot be used
    │   ├── SamplesError             no readable row
    │   ├── MissingColumnError       a reward requires a column that the samples lack
    │   ├── MissingExtraError        an optional package is not installed
    │   └── ArgumentError            a wrong argument of a function called from Python; a ValueError too
    ├── LoadError                3   the user's own file failed to load
    ├── ShortfallError           1   the thing examined falls short
    │   ├── SealError                a missing, damaged or broken seal
    │   └── MergeProofError          a merged model that does not equal its adapter
    ├── SandboxError             1   model-written code cannot be run here: refused, or the sandbox failed
    └── WorkerError              1   our own code failed inside a worker process
        ├── WorkerTimeout            a worker was ended at its deadline
        └── WorkerDied               a worker ended by itself: exit code or signal
"""

from __future__ import annotations


class RewardWorkbenchError(Exception):
    """Root of all errors this product raises on purpose; `str(error)` is the sentence shown."""

    exit_code = 2


class UsageError(RewardWorkbenchError):
    """Wrong use or unreadable input."""


class TargetError(UsageError):
    """A target that names no file, project or function."""


class ManifestError(UsageError):
    """A `rewardset.toml` that cannot be read or contradicts itself."""


class SamplesError(UsageError):
    """Samples of which no row could be read."""


class MissingColumnError(UsageError):
    """A reward requires a column that the samples do not have."""


class ArgumentError(UsageError, ValueError):
    """A function called from Python got an argument that it cannot use."""


class MissingExtraError(UsageError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install 'reward-workbench[{extra}]'"
        )
        self.package = package
        self.extra = extra


class LoadError(RewardWorkbenchError):
    """The user's own file raised, ended the process or never came back while it was imported."""

    exit_code = 3


class ShortfallError(RewardWorkbenchError):
    """The thing examined falls short of what was asked."""

    exit_code = 1


class SealError(ShortfallError):
    """A seal that is missing, damaged or no longer true."""


class MergeProofError(ShortfallError):
    """A merged model that was not proved to equal base plus adapter."""


class SandboxError(RewardWorkbenchError):
    """Model-written code is refused on this machine, or the sandbox it should run in failed."""

    exit_code = 1


class WorkerError(RewardWorkbenchError):
    """Code that ran inside a worker process raised: `kind` is the exception's class name."""

    exit_code = 1

    def __init__(self, message: str, *, kind: str = "", where: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.where = where


class WorkerTimeout(WorkerError):
    """A worker that did not answer by its deadline and was ended."""


class WorkerDied(WorkerError):
    """A worker that ended without an answer; `code` is its exit code, negative for a signal."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message, kind="WorkerDied")
        self.code = code
