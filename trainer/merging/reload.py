"""Load a model folder the way anyone will: plain transformers, a fresh process, PEFT out of reach.

`python -P -m trainer.merging.reload FOLDER` prints one JSON object: the keys that were missing, unexpected or of
another shape, whether the file held adapters, and the most likely next token after a fixed start. The merge
proof runs it as its number 7. It stands alone on purpose: nothing of this project is imported.
"""

from __future__ import annotations

import json
import sys
from typing import Any

FINDINGS = ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs", "conversion_errors")


def report(folder: str) -> dict[str, Any]:
    """What loading `folder` says.

    Lists that should be empty, the dtype, and the tokens a fixed start is continued with.
    """
    sys.modules["peft"] = None  # type: ignore[assignment]  # importing it fails from here on
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    model, info = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", output_loading_info=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    facts: dict[str, Any] = {name: sorted(str(item) for item in info.get(name) or ()) for name in FINDINGS}
    facts["dtype"] = str(model.dtype).removeprefix("torch.")
    facts["adapters"] = bool(getattr(model, "_hf_peft_config_loaded", False))
    with torch.inference_mode():
        ids = torch.tensor([tokenizer("What is 2 + 3?")["input_ids"]])
        facts["next_token"] = int(model(input_ids=ids).logits[0, -1].float().argmax())
    return facts


def main() -> int:
    """Print the report of the folder named on the command line."""
    try:
        facts = report(sys.argv[1])
    except Exception as error:  # noqa: BLE001  (the parent reads any failure as "does not load")
        facts = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(facts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
