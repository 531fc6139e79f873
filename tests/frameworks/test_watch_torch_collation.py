"""Collators that move rows without their labels, and those that only look like it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks import pairing
from harness.frameworks.watch import lengths
from tests.frameworks.watching import watch

pytest.importorskip("torch")

HEAD = """
import random
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
torch.manual_seed(0)
rng = random.Random(0)
ROWS = []
for _ in range(160):
    label = rng.randrange(3)
    ROWS.append(([1 + label * 20 + rng.randrange(20) for _ in range(rng.randint(4, 9))], label + 1))
class Rows:
    def __len__(self): return len(ROWS)
    def __getitem__(self, i): return {"ids": torch.tensor(ROWS[i][0]), "label": ROWS[i][1]}
COLLATOR
model = nn.Sequential(nn.EmbeddingBag(64, 16, padding_idx=0), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for batch in DataLoader(Rows(), batch_size=16, shuffle=True, collate_fn=collate):
    loss = F.cross_entropy(model(batch["ids"]), batch["labels"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SORTED = """
def collate(rows):
    ids = sorted((row["ids"] for row in rows), key=len, reverse=True)
    return {"ids": pad_sequence(ids, batch_first=True), "labels": torch.tensor([row["label"] for row in rows])}
"""
MIXED = """
class Collate:
    def __call__(self, rows):
        ids = pad_sequence([row["ids"] for row in rows], batch_first=True)
        return {"ids": ids.T.reshape(len(rows), -1), "labels": torch.tensor([row["label"] for row in rows])}
collate = Collate()
"""
HEALTHY = ["""
def collate(rows):
    rows = sorted(rows, key=lambda row: len(row["ids"]))
    return {"ids": pad_sequence([row["ids"] for row in rows], batch_first=True), "labels": torch.tensor([row["label"] for row in rows])}
""", """
def collate(rows):
    return {"ids": pad_sequence([row["ids"].flip(0) for row in rows], batch_first=True),
            "labels": torch.tensor([row["label"] - 1 for row in rows])}
""", """
def collate(rows):
    ids = pad_sequence([row["ids"][:3] for row in rows], batch_first=True)
    return {"ids": ids[torch.randperm(len(rows))] * 0 + ids, "labels": torch.tensor([row["label"] for row in rows])}
"""]


@pytest.mark.parametrize(("collator", "scattered", "line"), [(SORTED, False, '"labels": '), (MIXED, True, '"labels": ')])
def test_rows_beside_labels_of_others(tmp_path: Path, collator: str, line: str, *, scattered: bool) -> None:
    seen = watch(tmp_path, HEAD.replace("COLLATOR", collator))
    assert seen.collation is not None
    assert seen.collation.astray > 0.3 * seen.collation.rows
    assert (seen.collation.scattered > 0) == scattered
    found = pairing.finding(seen)
    assert found is not None
    assert found.site is not None
    assert line in found.site.source


@pytest.mark.parametrize("collator", HEALTHY)
def test_rows_that_keep_their_labels(tmp_path: Path, collator: str) -> None:
    seen = watch(tmp_path, HEAD.replace("COLLATOR", collator))
    assert seen.collation is None or not seen.collation.astray
    assert pairing.finding(seen) is None


TUPLES = HEAD.replace('return {"ids": torch.tensor(ROWS[i][0]), "label": ROWS[i][1]}', "return torch.tensor(ROWS[i][0]), ROWS[i][1]")
TUPLES = TUPLES.replace('batch["ids"]', "batch[0]").replace('batch["labels"]', "batch[1]").replace("COLLATOR", """
def collate(rows):
    ids, labels = zip(*rows)
    return pad_sequence(ids, batch_first=True), torch.tensor(LABELS), torch.tensor([len(row) for row in ids])
""")


@pytest.mark.parametrize(("labels", "fault"), [("labels", False), ("labels[::-1]", True)])
def test_lengths_behind_the_labels_are_no_labels(tmp_path: Path, labels: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TUPLES.replace("LABELS", labels))
    assert seen.collation is not None
    assert (seen.collation.astray > 0) is fault
    assert (pairing.finding(seen) is not None) is fault


TAGGED = """
import random
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
torch.manual_seed(0)
rng = random.Random(0)
rows = []
for _ in range(160):
    words = [rng.randrange(1, 40) for _ in range(rng.randint(2, 12))]
    rows.append((["w%d" % word for word in words], [word % 3 for word in words]))
def collate(rows):
    ids = pad_sequence([torch.tensor([int(word[1:]) for word in words]) for words, _ in rows], batch_first=True)
    tags = pad_sequence([torch.tensor(marks) for _, marks in rows], batch_first=True, padding_value=-100)
    lengths = torch.tensor([len(words) for words, _ in rows])
    order = lengths.argsort(descending=True)
    RETURN
model = nn.Sequential(nn.Embedding(40, 16, padding_idx=0), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for ids, lengths, tags in DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate):
        scores = model(ids)
        loss = F.cross_entropy(scores.transpose(1, 2), tags)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("returned", "apart", "source"), [
    ("ids = ids[order]\n    return ids, lengths[order], tags", True, "ids = ids[order]"),
    ("return ids, lengths[order], tags", True, ""),
    ("return ids[order], lengths[order], tags[order]", False, ""), ("return ids, lengths, tags", False, "")],
    ids=["words and lengths sorted, tags not", "lengths sorted, rows not", "all sorted", "nothing sorted"])
def test_parts_of_a_batch_that_have_their_lengths_in_two_orders(tmp_path: Path, returned: str, source: str, *, apart: bool) -> None:
    seen = watch(tmp_path, TAGGED.replace("RETURN", returned), probe_seconds=0.0)
    assert all(batch.lengths is not None for batch in seen.batches)
    finding = pairing.finding(seen)
    assert (finding is not None) is apart
    if finding is not None:
        assert "two orders" in finding.message
        assert finding.site is not None
        assert source in finding.site.source


def test_lengths_that_say_nothing() -> None:
    rows = np.random.default_rng(0).integers(1, 9, (16, 8))
    padded = rows * (np.arange(8) < np.arange(16)[:, None] % 6 + 3)
    assert lengths.measure({"ids": rows, "labels": rows[::-1] % 3}) is None  # nothing is padded
    assert lengths.measure({"ids": padded, "labels": np.arange(16) % 3}) is None
    other = lengths.measure({"source": padded, "target": padded[:, ::-1]})  # filled in front: lengths that are no lengths
    assert other is None or not other.apart
    assert lengths.measure({"ids": padded[:4], "labels": padded[3::-1]}) is None  # too few rows
