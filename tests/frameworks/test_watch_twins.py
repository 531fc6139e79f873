"""Rows with the same input, draws of a model's answers, and where a vocabulary is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch.samples import Samples
from tests.frameworks.test_watch_torch import line_of
from tests.frameworks.watching import found, watch

torch = pytest.importorskip("torch")

TEMPLATES = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
kinds = torch.arange(60)
which = torch.randint(0, 60, (960,))
x = torch.stack([kinds % 4, kinds // 4, kinds % 7, kinds % 11], 1)[which]
y = LABELS
loader = DataLoader(TensorDataset(x, y), batch_size=24, SAMPLER)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(16, 16)
        self.body = nn.GRU(16, 32, batch_first=True)
        self.head = nn.Linear(32, 4)
    def forward(self, ids):
        return self.head(self.body(self.words(ids))[1][-1])
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for ids, labels in loader:
        loss = F.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
DRAWN = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x, x_test = torch.randn(256, 2), torch.randn(64, 2)
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(20):
    model.train()
    for part in torch.randperm(256).split(32):
        loss = F.mse_loss(model(x[part]).squeeze(1), x[part, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        asked = [model(ASKED) for k in range(TIMES)]
"""
WORDS = """
import tempfile
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, Trainer, TrainingArguments
words = Tokenizer(
    WordLevel({"[PAD]": 0, "[UNK]": 1, "one": 2, "two": 3, "three": 4}, unk_token="[UNK]"))

words.pre_tokenizer = Whitespace()




tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")
rows = [{"text": "ONE" if k % 2 else "TWO THREE", "label": k % 2} for k in range(64)]
data = Dataset.from_list(rows).map(lambda row: tokenizer(row["text"], padding="max_length", max_length=4))
model = BertForSequenceClassification(BertConfig(vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                                 intermediate_size=8))
args = TrainingArguments(tempfile.mkdtemp(), max_steps=12, per_device_train_batch_size=8, report_to=[], save_strategy="no", use_cpu=True)
Trainer(model, args, train_dataset=data, processing_class=tokenizer).train()
"""


@pytest.mark.parametrize(("labels", "fault"), [("torch.randint(0, 4, (960,))", True), ("kinds[which] % 4", False)])
def test_rows_with_the_same_input(tmp_path: Path, labels: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TEMPLATES.replace("LABELS", labels).replace("SAMPLER", "shuffle=True"), seconds=60, steps=120)
    twins = seen.probes.twins
    assert twins is not None
    assert twins.rows > 900
    assert twins.agree == pytest.approx(0.25, abs=0.05) if fault else twins.agree == 1.0
    assert (found(seen) == ["D106"]) is fault, found(seen)


def test_rows_that_are_drawn_again_are_no_twins(tmp_path: Path) -> None:
    sampler = "sampler=torch.utils.data.WeightedRandomSampler(torch.ones(960), 960)"
    seen = watch(tmp_path, TEMPLATES.replace("LABELS", "torch.randint(0, 4, (960,))").replace("SAMPLER", sampler))
    assert seen.loaders[0].replaces
    assert seen.probes.twins is None


@pytest.mark.parametrize(("asked", "times", "fault"), [("x_test", 8, False), ("x_test", 2, True), ("x_test[8 * k:8 * k + 8]", 8, True)])
def test_draws_of_answers_are_no_evaluation_in_training_mode(tmp_path: Path, asked: str, times: int, *, fault: bool) -> None:
    seen = watch(tmp_path, DRAWN.replace("ASKED", asked).replace("TIMES", str(times)), onward_seconds=20.0)
    assert seen.evaluation.in_training_mode
    assert (found(seen) == ["E502"]) is fault, found(seen)


def test_the_same_is_asked_for_in_a_row() -> None:
    samples = Samples()
    first, other = torch.ones(4, 2), torch.zeros(4, 2)
    assert [samples.asked([part]) for part in (first, first.clone(), first, first, other, first, first)] == [0, 0, 3, 1, 0, 0, 0]
    samples.over()
    assert samples.asked([first]) == 0


def test_unknown_words_are_mended_where_the_vocabulary_is_made(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, WORDS)
    finding = next(result.finding for result in walk(seen) if result.code == "D103")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.line == line_of(WORDS, "words = Tokenizer(")


def test_an_argument_that_a_compiled_class_refuses(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    text = 'from tokenizers import processors\nprocessors.RobertaProcessing(sep=("</s>", 2), weights=("<s>", 0))\n'
    finding = next(result.finding for result in walk(watch(tmp_path, text)) if result.code == "A701")
    assert finding is not None
    assert "takes: sep," in finding.remedy
