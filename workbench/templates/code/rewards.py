"""The reward of this project that is not in the library: is the function there that was asked for?

A plain function in TRL's call form: lists in, one number a completion out. It reads the program and never runs it.
Tests are run by the library, in a sandbox; weights and parameters of all rewards stand in rewardset.toml.
"""

import ast
import re

BLOCK = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)


def signature_reward(prompts, completions, entry_point, **kwargs):
    """Reward the function that was asked for.

    Returns 0.5 where the program defines a function of that name at its top level, and 0.5 more where that takes the
    parameters named in the task, `Write a Python function name(first, second) that ...`; 0.0 where there is no program
    or it is none. A model that writes another function, or only prints, is told so before it passes any test.
    """
    scores = []
    for prompt, completion, name in zip(prompts, completions, entry_point, strict=True):
        function = find_function(text_of(completion), name)
        score = 0.0
        if function is not None:
            score += 0.5
            if [argument.arg for argument in function.args.args] == parameters(text_of(prompt), name):
                score += 0.5
        scores.append(score)
    return scores


# ------------------------------------------------------------------------------- reading a completion


def text_of(messages):
    """The text of a prompt or a completion: its last message, or the text itself."""
    if isinstance(messages, str):
        return messages
    return (messages[-1]["content"] or "") if messages else ""


def find_function(text, name):
    """The last function of that name in the last fenced block; None where there is none."""
    blocks = BLOCK.findall(text)
    try:
        tree = ast.parse(blocks[-1]) if blocks else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return functions[-1] if functions else None


def parameters(task, name):
    """The parameters that the task names for a function."""
    call = re.search(rf"function {re.escape(name)}\(([^)]*)\)", task)
    return [part.strip() for part in call[1].split(",")] if call else []
