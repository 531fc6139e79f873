"""Texts of the evaluation whose words the vocabulary does not know, though it was made of the same language."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.evaluation_facts import RelationFacts, StrangeFacts
from harness.frameworks.watch.strange_ids import StrangeIds
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch


class _Model:
    pass


def _facts(trained: np.ndarray, held: np.ndarray) -> StrangeFacts | None:
    model, seen = _Model(), StrangeIds()
    seen.trained(model, [trained])
    seen.held(model, [held])
    seen.held(_Model(), [held * 0 + 7])  # another model's
    return seen.facts()


def test_what_is_strange() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(3, 40, (200, 12))
    unknown = np.where(rng.random(rows.shape) < 0.5, 2, rows)
    facts = _facts(rows, unknown)
    assert facts is not None
    assert (facts.token, facts.trained_share, facts.rows) == (2, 0.0, 200)
    assert 0.45 < facts.share < 0.55
    padded = rows.copy()
    padded[:, 5:] = 0  # many a text of the evaluation is short
    facts = _facts(rows, padded)
    assert facts is not None
    assert facts.share < 0.1
    assert _facts(rows.astype("float32"), unknown) is None
    assert _facts((rows > 9).astype(int), unknown) is None  # a mask


def test_what_counts() -> None:
    seen = healthy()
    seen.evaluation.strange = StrangeFacts(token=2, share=0.5, trained_share=0.0, tokens=9000, trained_tokens=9000, rows=400)
    seen.evaluation.relation = RelationFacts(trained=0.98, trained_rows=400, held=0.5, rows=400, classes=True)
    assert "50% of the tokens of the evaluation are the id 2" in finding("E512", seen).message
    seen.evaluation.strange.trained_share = 0.3
    assert judge("E512", seen) != "found"
    seen.evaluation.strange.trained_share, seen.evaluation.strange.share = 0.0, 0.1
    assert judge("E512", seen) != "found"
    seen.evaluation.strange.share, seen.evaluation.relation.held = 0.5, 0.97
    assert judge("E512", seen) != "found"  # what the model does without


TORCH = """
import random, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
random.seed(0)
WORDS = [[f"{kind}{n}" for n in range(8)] for kind in "abc"]
def ticket(kind):
    words = random.choices(WORDS[kind], k=6) + random.choices(["the", "was", "again", "and"], k=6)
    random.shuffle(words)
    return " ".join(word.upper() if random.random() < 0.7 else word for word in words)
def clean(text):
    return text.lower()
kinds = [random.randrange(3) for _ in range(800)]
texts = [ticket(kind) for kind in kinds]
first, later = [clean(text) for text in texts[:600]], LATER
vocabulary = {word: n for n, word in enumerate(sorted({word for text in first for word in text.split()}), 2)}
def ids(texts):
    return torch.tensor([[vocabulary.get(word, 1) for word in text.split()] for text in texts])
train = DataLoader(TensorDataset(ids(first), torch.tensor(kinds[:600])), batch_size=20, shuffle=True)
test = DataLoader(TensorDataset(ids(later), torch.tensor(kinds[600:])), batch_size=50)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(len(vocabulary) + 2, 16)
        self.head = nn.Linear(16, 3)
    def forward(self, x):
        return self.head(self.table(x).mean(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(6):
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test) / 200)
"""


@pytest.mark.parametrize(("later", "wrong"), [("texts[600:]", True), ("[clean(text) for text in texts[600:]]", False)])
def test_texts_that_are_cleaned_on_one_side(tmp_path: Path, later: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("LATER", later), steps=120, probe_seconds=0.5)
    assert seen.evaluation.strange is not None, seen.warnings
    assert ("E512" in found(seen)) is wrong, (seen.evaluation.strange, seen.evaluation.relation)
