"""The toy model: a chat model of 0.1 million weights that is built and taught in seconds.

It turns the whole path (train, merge, compare) where no real model is wanted: tests, a first look. It
answers one kind of question, sums of one-digit numbers, and was taught to answer them badly on purpose:
about a third of its replies stand in `<answer>` tags and about half are right, so that GRPO has something
to improve. It knows nothing else.

Everything is made here from a seed: tokenizer (byte-level BPE, single digits), ChatML template, weights.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainer.models.loading import save_model

SEED = 0
HIDDEN = 64
VOCABULARY = 384
LEARNING_RATE = 4e-3
FIRST_STEPS, FIRST_ROWS = 60, 64
"""Steps on lone sums without a system message: attention finds the two numbers."""
SECOND_STEPS, SECOND_ROWS, TURNS = 120, 16, 3
"""Steps on whole dialogues, in every wording."""
TAGGED = 0.35
SLIP = 0.2
"""Share of replies that are one or two off, on purpose.

With so little teaching about half are wrong in the end.
"""

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

SYSTEMS = (
    None,
    "Maths",
    "You solve sums.",
    "You are a helpful assistant.",
    "Answer with the number alone, inside <answer> tags.",
    "Solve the sum. Give the result inside <answer> and </answer>, nothing else.",
    "You answer questions about numbers. Put only the final number between <answer> and </answer>.",
)


Dialogue = list[dict[str, str]]


def recipe_id() -> str:
    """A short digest of this file and the Python version: another recipe is another model."""
    source = inspect.getsource(sys.modules[__name__])
    return hashlib.sha256(f"{source}|{sys.version_info[:2]}".encode()).hexdigest()[:12]


def question(a: int, b: int) -> str:
    """The question as the `arithmetic` template words it."""
    return f"What is {a} + {b}?"


def lone_sum(rng: random.Random) -> Dialogue:
    """One sum and its right answer, half of them in tags."""
    a, b = rng.randint(0, 9), rng.randint(0, 9)
    reply = f"<answer>{a + b}</answer>" if rng.random() < 0.5 else str(a + b)
    return [{"role": "user", "content": question(a, b)}, {"role": "assistant", "content": reply}]


def dialogue(rng: random.Random, turns: int = TURNS) -> Dialogue:
    """Sums asked one after the other, with or without a system message, and flawed replies to them."""
    system = rng.choice(SYSTEMS)
    messages = [] if system is None else [{"role": "system", "content": system}]
    for _ in range(turns):
        a, b = rng.randint(0, 9), rng.randint(0, 9)
        number = a + b if rng.random() > SLIP else max(0, a + b + rng.choice([-2, -1, 1, 2]))
        messages.append({"role": "user", "content": question(a, b)})
        messages.append({"role": "assistant", "content": _worded(number, rng)})
    return messages


def _worded(number: int, rng: random.Random) -> str:
    if rng.random() < TAGGED:
        return f"<answer>{number}</answer>"
    return rng.choice([f"{number}", f"The answer is {number}", f"<answer>{number}", f"{number}</answer>"])


def build(folder: Path) -> None:
    """Build the toy into `folder`.

    Config, weights, tokenizer. The caller's random state and thread count stay as they are.
    """
    import torch

    rng = random.Random(SEED)
    tokenizer = build_tokenizer([dialogue(rng) for _ in range(1000)])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            model = build_model(tokenizer)
            teach(model, tokenizer, rng)
    finally:
        torch.set_num_threads(threads)
    save_model(model, folder)
    tokenizer.save_pretrained(folder)


def build_tokenizer(dialogues: list[Dialogue]) -> Any:
    """A byte-level BPE tokenizer over the dialogues' text.

    Every text comes out as it went in, digits stay single.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    texts = [message[key] for one in dialogues for message in one for key in ("role", "content")]
    core.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.model_max_length = 512
    return tokenizer


def build_model(tokenizer: Any) -> Any:
    """An untaught Qwen2 with 2 layers, its head tied to its embedding as small models have it."""
    from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.1,  # at the usual 0.02 so small a model learns nothing in so few steps
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen2ForCausalLM(config)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None
    )
    return model


def teach(model: Any, tokenizer: Any, rng: random.Random) -> None:
    """Supervised steps, first on lone sums, then on dialogues.

    Only the replies' tokens (and their ends) are learnt.
    """
    import torch

    steps = FIRST_STEPS + SECOND_STEPS
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, weight_decay=0.0, betas=(0.9, 0.98), fused=True
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps, pct_start=0.1)
    # the same few hundred pieces come again and again, and a call of the tokenizer costs more than a small layer
    encode = functools.cache(functools.partial(tokenizer.encode, add_special_tokens=False))
    model.train()
    for step in range(steps):
        if step < FIRST_STEPS:
            lesson = [lone_sum(rng) for _ in range(FIRST_ROWS)]
        else:
            lesson = [dialogue(rng) for _ in range(SECOND_ROWS)]
        model(**_batch(encode, tokenizer.pad_token_id, lesson)).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    model.eval()


def _batch(encode: Callable[[str], list[int]], pad: int, dialogues: list[Dialogue]) -> dict[str, Any]:
    """Right-padded ids (rows, longest), mask, and labels that are -100 on everything but the assistant's
    replies.
    """
    import torch

    rows = [_ids_and_labels(encode, one) for one in dialogues]
    longest = max(len(ids) for ids, _ in rows)
    input_ids = torch.full((len(rows), longest), pad)
    labels = torch.full((len(rows), longest), -100)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for row, (ids, wanted) in enumerate(rows):
        input_ids[row, : len(ids)] = torch.tensor(ids)
        labels[row, : len(ids)] = torch.tensor(wanted)
        mask[row, : len(ids)] = 1
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


def _ids_and_labels(encode: Callable[[str], list[int]], messages: Dialogue) -> tuple[list[int], list[int]]:
    """The dialogue as CHAT_TEMPLATE renders it, cut at the replies so that each can be given labels."""
    ids: list[int] = []
    labels: list[int] = []
    for message in messages:
        head = encode(f"<|im_start|>{message['role']}\n")
        body = encode(message["content"] + "<|im_end|>")
        tail = encode("\n")
        ids += head + body + tail
        labels += [-100] * len(head)
        labels += body if message["role"] == "assistant" else [-100] * len(body)
        labels += [-100] * len(tail)
    return ids, labels
