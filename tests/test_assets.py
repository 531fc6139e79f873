"""The embedded data, checkpoint and metric: made again they are the same, and the checkpoint is one that a wrong rate ruins."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from harness.paths import ROOT

CHECKPOINTS = ("distilbert-mini", "distilbert-micro")


def script(name: str):
    """`assets/NAME.py` as a module; it imports its neighbours by name, as scripts do."""
    sys.path.insert(0, str(ROOT / "assets"))
    try:
        spec = importlib.util.spec_from_file_location(name, ROOT / "assets" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(ROOT / "assets"))


def test_the_data_are_what_their_generator_writes() -> None:
    done = subprocess.run([sys.executable, ROOT / "assets" / "make_nli.py", "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_check_of_the_data_can_fail(tmp_path: Path) -> None:
    (tmp_path / "make_nli.py").write_bytes((ROOT / "assets" / "make_nli.py").read_bytes())
    done = subprocess.run([sys.executable, tmp_path / "make_nli.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "assets/nli/3_labels/train.jsonl differs" in done.stdout


@pytest.mark.slow
def test_the_reach_of_a_step_leaves_the_function_as_it_was(tmp_path: Path) -> None:
    import torch
    from transformers import DistilBertConfig, DistilBertForMaskedLM

    torch.manual_seed(0)
    model = DistilBertForMaskedLM(DistilBertConfig(vocab_size=50, dim=32, hidden_dim=64, n_layers=2, n_heads=2)).eval()
    for weight in model.parameters():
        if weight.dim() == 1:  # gains and biases start as ones and zeros, which would hide a wrong factor
            weight.data += 0.3 * torch.randn(weight.shape)
    ids = torch.randint(5, 50, (3, 11))
    script("pretrain").save(model, torch.nn.Linear(32, 32), tmp_path)
    again = DistilBertForMaskedLM.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        before, after = model(ids).logits, again(ids).logits
    assert not torch.equal(model.distilbert.embeddings.word_embeddings.weight, again.distilbert.embeddings.word_embeddings.weight)
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_half_a_model_is_every_second_block_and_all_the_rest() -> None:
    import torch

    weights = {f"distilbert.transformer.layer.{number}.ffn.lin1.weight": torch.tensor(number) for number in range(6)}
    kept = script("distil").half(weights | {"distilbert.embeddings.LayerNorm.bias": torch.tensor(7)})
    assert {name.removeprefix("distilbert."): int(value) for name, value in kept.items()} == {
        "transformer.layer.0.ffn.lin1.weight": 1, "transformer.layer.1.ffn.lin1.weight": 3, "transformer.layer.2.ffn.lin1.weight": 5,
        "embeddings.LayerNorm.bias": 7,
    }


@pytest.mark.slow
def test_padding_counts_nothing_in_what_a_student_learns() -> None:
    import torch

    told = torch.zeros(2, 3, 4)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    said = told.clone()
    said[0, 2] = 100.0
    assert script("distil").distance(said, told, mask) == 0
    said[0, 1] = 1.0
    assert script("distil").distance(said, told, mask) == pytest.approx(1 / 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_the_checkpoint_is_whole(name: str) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = ROOT / "assets" / name
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model, report = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3, output_loading_info=True)
    assert set(report["missing_keys"]) == {"classifier.weight", "classifier.bias"}
    assert model.config.vocab_size == len(tokenizer)
    text = "The bath is hot, and the towel is on the bench."
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True).replace(" ,", ",").replace(" .", ".") == text.lower()
    assert tokenizer.unk_token_id not in tokenizer(text)["input_ids"]
