"""The embedded data, checkpoint and metric: made again they are the same, and the checkpoint is one that a wrong rate ruins."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from harness.paths import ROOT

MINI = ROOT / "assets" / "distilbert-mini"


def pretrain():
    """`assets/pretrain.py` as a module; it imports its neighbour by name, as scripts do."""
    sys.path.insert(0, str(ROOT / "assets"))
    try:
        spec = importlib.util.spec_from_file_location("pretrain", ROOT / "assets" / "pretrain.py")
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
    pretrain().save(model, torch.nn.Linear(32, 32), tmp_path)
    again = DistilBertForMaskedLM.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        before, after = model(ids).logits, again(ids).logits
    assert not torch.equal(model.distilbert.embeddings.word_embeddings.weight, again.distilbert.embeddings.word_embeddings.weight)
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_the_checkpoint_is_whole() -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MINI)
    model = AutoModelForSequenceClassification.from_pretrained(MINI, num_labels=3)
    assert model.config.vocab_size == len(tokenizer)
    text = "The bath is hot, and the towel is on the bench."
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True).replace(" ,", ",").replace(" .", ".") == text.lower()
    assert tokenizer.unk_token_id not in tokenizer(text)["input_ids"]
