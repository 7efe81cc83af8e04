"""A merged model as GGUF and on the hub: by a converter that is there or said to be missing, and only when asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewards.errors import UsageError
from trainer.__main__ import main
from trainer.merging.gguf_export import CONVERTER, export_gguf
from trainer.merging.hub import push

WRITES = """
import sys
import numpy, gguf
folder, _, out, _, kind = sys.argv[1:]
writer = gguf.GGUFWriter(out, "qwen2")
writer.add_tensor("token_embd.weight", numpy.zeros((4, 4), dtype=numpy.float32))
writer.write_header_to_file(); writer.write_kv_data_to_file(); writer.write_tensors_to_file(); writer.close()
"""


def converter(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder beside a llama.cpp whose converter is this code."""
    (folder / "llama.cpp").mkdir()
    (folder / "llama.cpp" / CONVERTER).write_text(code)
    monkeypatch.setenv("LLAMA_CPP", str(folder / "llama.cpp"))
    (folder / "merged").mkdir()
    return folder / "merged"


def test_the_converters_file_is_put_beside_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    file = export_gguf(converter(tmp_path, WRITES, monkeypatch), "f16", said.append)
    assert file == tmp_path / "merged-f16.gguf"
    assert file.read_bytes()[:4] == b"GGUF"
    assert "1 tensors" in said[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["llama.cpp", "merged", "merged-f16.gguf"]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "import sys; sys.exit('Model Toy is not supported')",
            "could not convert .*: Model Toy is not supported",
        ),
        ("import sys; open(sys.argv[3], 'w').write('no')", "cannot be read"),
        ("", "it said nothing"),
    ],
)
def test_a_converter_that_fails_leaves_nothing(
    code: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = converter(tmp_path, code, monkeypatch)
    with pytest.raises(UsageError, match=sentence):
        export_gguf(model, "q8_0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["llama.cpp", "merged"]


def test_what_is_missing_is_told_before_the_merge(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("LLAMA_CPP", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["merge", "no-run", "--gguf", "f16"]) == 2
    assert "--gguf needs llama.cpp's convert_hf_to_gguf.py" in capsys.readouterr().err
    assert main(["merge", "no-run", "--gguf", "q4"]) == 2
    assert "--gguf q4 must be one of f32, f16, bf16, q8_0" in capsys.readouterr().err
    assert main(["merge", "no-run", "--push", "name"]) == 2
    assert "--push 'name' must be OWNER/NAME" in capsys.readouterr().err
    monkeypatch.setenv("LLAMA_CPP", str(tmp_path))
    assert main(["merge", "no-run", "--gguf", "f16"]) == 2
    assert f"LLAMA_CPP={tmp_path} holds no {CONVERTER}" in capsys.readouterr().err


class Api:
    """The hub's client as far as it is used, recording what it is asked for."""

    calls: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012  (emptied by the test)
    refuses = False
    private = True

    def repo_info(self, name: str, **more: Any) -> SimpleNamespace:
        return SimpleNamespace(private=self.private)

    def create_repo(self, name: str, **more: Any) -> str:
        if self.refuses:
            raise OSError("Token is required\nbut none was found")
        self.calls.append((name, more))
        return f"https://huggingface.co/{name}"

    def upload_folder(self, **more: Any) -> None:
        self.calls.append(("upload", more))


def test_a_push_makes_a_private_repository_and_uploads_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    Api.calls.clear()
    assert push(tmp_path, "me/sums") == "https://huggingface.co/me/sums"
    (name, made), (_, uploaded) = Api.calls
    assert (name, made["private"], made["exist_ok"]) == ("me/sums", True, True)
    assert (uploaded["repo_id"], uploaded["folder_path"]) == ("me/sums", str(tmp_path))


def test_a_hub_that_refuses_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    monkeypatch.setattr(Api, "refuses", True)
    with pytest.raises(UsageError, match="cannot be pushed to me/sums: Token is required; log in") as caught:
        push(tmp_path, "me/sums")
    assert "\n" not in str(caught.value)


def test_nothing_is_uploaded_to_a_repository_that_is_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    monkeypatch.setattr(Api, "private", False)
    Api.calls.clear()
    with pytest.raises(UsageError, match="me/sums is there already and public, so nothing was uploaded"):
        push(tmp_path, "me/sums")
    assert [name for name, _ in Api.calls] == ["me/sums"]


def test_a_hub_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    code = f"from pathlib import Path; from trainer.merging.hub import push; push(Path({str(tmp_path)!r}), 'me/sums')"
    offline = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_TOKEN": "none"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=False
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("rewards.errors.UsageError")
    assert "cannot be pushed to me/sums" in last


def test_nothing_is_pushed_unless_it_is_asked_for(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **more: Any) -> None:
        raise AssertionError("pushed")

    monkeypatch.setattr("trainer.merging.hub.push", refuse)
    monkeypatch.setattr("trainer.merging.merge.merge_proof.prove", lambda subject, say: [])
    assert main(["merge", str(tiny_run)]) == 0
    assert (tiny_run / "merged" / "config.json").is_file()
    assert not list(tiny_run.glob("*.gguf"))
