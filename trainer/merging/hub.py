"""A merged model on the Hugging Face hub: only where it is asked for by name, and private."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from rewards.errors import UsageError
from trainer.models.loading import first_line, need

NAME = re.compile(r"[\w.-]+/[\w.-]+")


def check_name(name: str) -> None:
    """See that a name is one the hub can have.

    Raises:
        UsageError: it is not.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"--push {name!r} must be OWNER/NAME, as a model is named on the hub")


def push(model: Path, name: str, say: Callable[[str], None] = lambda text: None) -> str:
    """Upload a model folder, model card included, into the private repository `name`; returns its address.

    The repository is made if there is none; one that everybody can read gets nothing. The token is the one
    `hf auth login` keeps, or HF_TOKEN.

    Raises:
        UsageError: the name is none, the repository is public, or the hub refuses (no token, no right, no network).
    """
    check_name(name)
    hub = need("huggingface_hub")
    try:
        api = hub.HfApi()
        address = str(api.create_repo(name, repo_type="model", private=True, exist_ok=True))
        if not api.repo_info(name, repo_type="model").private:
            raise UsageError(
                f"{address} is there already and public, so nothing was uploaded; make it private on the hub, or give "
                "--push another name"
            )
        say(f"uploading {model} to {address} ...")
        api.upload_folder(
            repo_id=name, folder_path=str(model), commit_message="Trained and merged with Reward Workbench"
        )
    except UsageError:
        raise
    except (
        Exception
    ) as error:  # offline, no token, no right: what the client raises depends on its HTTP library
        raise UsageError(
            f"{model} cannot be pushed to {name}: {first_line(error)}; log in with `hf auth login`"
        ) from error
    return address
