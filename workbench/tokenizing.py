"""The tokenizer that gives completions their token ids, where one is at hand without a download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rewards.errors import ManifestError, MissingExtraError
from rewards.manifest import Manifest

Tokenizer = Callable[[str], Sequence[int]]


def tokenizer_for(manifest: Manifest | None) -> Tokenizer | None:
    """The tokenizer of a project: `[set] tokenizer`, else the training model's if that is a local folder.

    Returns:
        A function from text to token ids, or None where no tokenizer is named or at hand.

    Raises:
        ManifestError: `[set] tokenizer` names a folder without a tokenizer.
        MissingExtraError: the package that reads tokenizers is not installed.
    """
    if manifest is None:
        return None
    if manifest.set.tokenizer:
        file = _tokenizer_file(manifest.resolve(manifest.set.tokenizer))
        if file is None:
            raise ManifestError(
                f'{manifest.path.name}: [set] tokenizer = "{manifest.set.tokenizer}" is no folder with a tokenizer.json'
            )
        return _load(file)
    file = _tokenizer_file(manifest.resolve(manifest.train.model)) if manifest.train.model else None
    return _load(file) if file is not None else None


def _tokenizer_file(path: Path) -> Path | None:
    file = path / "tokenizer.json" if path.is_dir() else path
    return file if file.is_file() and file.suffix == ".json" else None


def _load(file: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer as FastTokenizer
    except ImportError:
        raise MissingExtraError("tokenizers", "train", f"reading {file}") from None
    tokenizer = FastTokenizer.from_file(str(file))

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    return encode
