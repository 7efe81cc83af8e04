"""`reward-workbench train`: GRPO from a sealed set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code


def train(
    target: Annotated[str, typer.Argument(help="Project folder, file.py or file.py::function.")],
    samples: Annotated[
        list[Path] | None, typer.Option("--samples", help="Samples that seal an unsealed set.")
    ] = None,
    model: Annotated[str, typer.Option("--model", help="Hub name, folder, .gguf file, smollm2 or toy.")] = "",
    run: Annotated[
        Path | None, typer.Option("--run", help="The run's folder; default: runs/NAME of the project.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on at the last whole checkpoint.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting: key=value; again for more. Names: docs/training.md, and all of TRL's GRPOConfig.",
        ),
    ] = None,
    allow_unsealed: Annotated[
        bool, typer.Option("--allow-unsealed", help="Train without a valid seal; the run records it.")
    ] = False,
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Train with GRPO from a sealed reward set; an unsealed one is checked first and sealed if it passes."""
    from trainer.early import refuse_early
    from workbench.cli.trainer_process import run_trainer

    if not resume:
        refuse_early(target, model=model or None, sets=set_ or ())
    if not allow_unsealed and not resume and not _sealed(target):
        _check_and_seal(target, samples or [])
    arguments = ["train", target]
    arguments += [part for path in samples or [] for part in ("--samples", str(path))]
    arguments += ["--model", model] if model else []
    arguments += ["--run", str(run)] if run else []
    arguments += [part for item in set_ or [] for part in ("--set", item)]
    arguments += ["--resume"] * resume + ["--allow-unsealed"] * allow_unsealed
    raise typer.Exit(run_trainer(arguments))


def _sealed(target: str) -> bool:
    """Whether a seal is there at all; the trainer itself verifies that it still holds."""
    from rewards.targets import parse_target

    return parse_target(target).seal_path.exists()


def _check_and_seal(target: str, samples: list[Path]) -> None:
    """Run the quick checks and seal; leave with the findings and the way round them when they fail.

    Raises:
        Exit: code 1, the set does not pass.
    """
    from workbench.cli.check import check_and_seal

    sys.stderr.write(f"{target} is not sealed: running the quick checks\n")
    if not check_and_seal(target, samples, quick=True):
        sys.stderr.write(
            "error: the set does not pass its checks and was not sealed; to train all the same: "
            f"reward-workbench train {target} --allow-unsealed\n"
        )
        raise typer.Exit(1)
