"""Random splits of rows that belong to persons, devices or recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

TEXT = """
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.model_selection import GroupShuffleSplit, KFold, ShuffleSplit, train_test_split
from torch.utils.data import DataLoader, TensorDataset, random_split
torch.manual_seed(0)
rng = np.random.default_rng(0)
status = rng.permutation(np.repeat([0, 1], 20))
PERSON = np.repeat(np.arange(40), 12)
X = (rng.normal(size=(40, 8))[PERSON] + 0.8 * status[PERSON][:, None] + 0.3 * rng.normal(size=(480, 8))).astype("float32")
y = LABELS
SPLIT
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
inputs, wanted = torch.tensor(X), torch.tensor(y)
for epoch in range(4):
    for rows in torch.as_tensor(np.array(fitted)).split(32):
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[rows]), wanted[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(inputs[held]).argmax(1) == wanted[held]).float().mean()
"""
OF_A_PERSON, OF_A_ROW = "status[PERSON]", "(X[:, 0] > 0).astype(int)"
PLAIN = "fitted, held = train_test_split(np.arange(480), test_size=0.25, stratify=y, random_state=0)"
TABLE = """
table = pd.DataFrame({"a": X[:, 0], "patient_id": [f"p{n}" for n in person], "label": y})
one, other = train_test_split(table, test_size=0.25, random_state=0)
fitted, held = one.index.to_numpy(), other.index.to_numpy()
"""
BESIDE = "table = pd.DataFrame({'speaker': PERSON, 'take': np.arange(480) % 12, 'sick': y})\n" + PLAIN.replace("=y", "=table.sick")
TORCH = """
one, other = random_split(TensorDataset(torch.tensor(X), torch.tensor(y)), [360, 120])
fitted, held = list(one.indices), list(other.indices)
"""
BY_HAND = """
def divide(seed):
    order = np.random.default_rng(seed).permutation(480)
    held = np.isin(np.arange(480), order[:120])
    return np.where(~held)[0], np.where(held)[0]
fitted, held = divide(3)
"""
BY_KEY = """
import zlib
table = pd.DataFrame({"speaker": [f"s{n:02d}" for n in PERSON], "sick": y})
table["key"] = table.speaker + "_" + (table.index % 12).astype(str)
def divide(table, by="key"):
    place = table[by].map(lambda key: zlib.crc32(key.encode()) % 4).to_numpy()
    return np.flatnonzero(place > 0), np.flatnonzero(place == 0)
fitted, held = divide(table)
"""


@pytest.mark.parametrize(("split", "labels", "name", "codes"), [
    (PLAIN, OF_A_PERSON, "person", ["E523"]),
    ("fitted, held = next(ShuffleSplit(1, test_size=0.25, random_state=0).split(X, y))", OF_A_PERSON, "subject_ids", ["E523"]),
    ("fitted, held = next(KFold(4, shuffle=True, random_state=0).split(X, y))", OF_A_PERSON, "speakers", ["E523"]),
    (TABLE, OF_A_PERSON, "person", ["E523"]),
    (TORCH, OF_A_PERSON, "person", ["E523"]),
    (BESIDE, OF_A_PERSON, "fine_class", ["E523"]), (BESIDE, OF_A_ROW, "fine_class", []),
    (PLAIN, OF_A_ROW, "person", []),  # the label is of the row, and the same persons may come again
    (PLAIN, OF_A_PERSON, "fine_class", []),  # nothing says that these are somebody
    ("fitted, held = next(GroupShuffleSplit(1, test_size=0.25, random_state=0).split(X, y, groups=person))", OF_A_PERSON, "person", []),
    (BY_HAND, OF_A_PERSON, "person", ["E523"]), (BY_HAND, OF_A_ROW, "person", []), (BY_HAND, OF_A_PERSON, "fine_class", []),
    (BY_HAND.replace("permutation(480)", "permutation(40)").replace("order[:120]", "order[:10]").replace(
        "np.arange(480)", "PERSON"), OF_A_PERSON, "person", []),
    (BY_KEY, OF_A_PERSON, "fine_class", ["E523"]), (BY_KEY, OF_A_ROW, "fine_class", []),
    (BY_KEY.replace('by="key"', 'by="speaker"'), OF_A_PERSON, "fine_class", []),
    ("fitted, held = next(KFold(4).split(X, y))", OF_A_PERSON, "person", []),  # blocks of rows, which are whole persons here
])
def test_rows_of_persons(tmp_path: Path, split: str, labels: str, name: str, codes: list[str]) -> None:
    text = TEXT.replace("SPLIT", split).replace("LABELS", labels).replace("PERSON", name)
    seen = watch(tmp_path, text.replace("in person", f"in {name}").replace("groups=person", f"groups={name}"))
    assert [code for code in found(seen) if code == "E523"] == codes
    if codes:
        assert seen.grouped is not None
        assert seen.grouped.shared == 1
        assert seen.grouped.groups == 40
    if codes and split == BY_HAND:
        assert seen.grouped.site.source.startswith("order = ")


def test_a_dataset_that_holds_what_it_likes(tmp_path: Path) -> None:
    text = TEXT.replace("LABELS", OF_A_PERSON).replace("PERSON", "person").replace("SPLIT", """
class Own:
    tensors = {"x": X}
    def __len__(self):
        return 480
    def __getitem__(self, at):
        return X[at]
one, other = random_split(Own(), [360, 120])
fitted, held = list(one.indices), list(other.indices)
""")
    seen = watch(tmp_path, text)
    assert seen.exception is None
    assert seen.warnings == []
    assert seen.grouped is None
