import json
from pathlib import Path
from typing import Any

from trainer.data.faults import cut_completions, data_faults, template_faults


class Words:
    """A tokenizer of words whose template opens a tag."""

    def __call__(self, texts: list[str], **options: Any) -> dict[str, list[list[int]]]:
        return {"input_ids": [[1] * len(text.split()) for text in texts]}

    def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> str:
        return "".join(message["content"] for message in messages) + "<|assistant|>\n<think>\n"


def test_answers_in_prompts_conflicts_and_placeholders_are_told() -> None:
    rows = [
        {"prompt": "6 times 7?\nAnswer: 42", "answer": "42"},
        {"prompt": "6 times 8?\nAnswer: 48", "answer": "48"},
        {"prompt": "1 + 1?", "answer": "2"},
        {"prompt": "1 + 1?", "answer": "3"},
        {"prompt": "5 + 5?", "answer": "10"},
        {"prompt": "2 + 1?", "answer": "nan"},
    ]
    assert [fault[-6:-1] for fault in data_faults(rows, ["answer", "source"])] == ["RW801", "RW805", "RW806"]
    assert data_faults(rows[4:5], ["answer"]) == []


def test_template_that_opens_a_tag_matters_to_the_reward_that_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text('re.match(r"^<think>", text)')
    (tmp_path / "other.py").write_text('"<answer>" in text')
    files = {"format": str(tmp_path / "waits.py"), "answer": str(tmp_path / "other.py"), "model": None}
    [fault] = template_faults([{"role": "user", "content": "2 + 2?"}], Words(), files)
    assert fault == (
        "the chat template opens <think> in the prompt, so no completion opens it, and format looks for <think> (RW808)"
    )
    assert template_faults("2 + 2?", Words(), files) == []


def test_completions_over_the_limit_are_counted(tmp_path: Path) -> None:
    rows = [{"prompt": "p", "samples": ["one two", {"completion": "one two three four"}]}]
    chat = {"prompt": "p", "completion": [{"role": "assistant", "content": "a b c d e"}]}
    (tmp_path / "s.jsonl").write_text("\n".join(json.dumps(row) for row in [*rows, chat]))
    assert cut_completions([tmp_path / "s.jsonl"], Words(), 3) == (2, 3)
    assert cut_completions([], Words(), 3) == (0, 0)
