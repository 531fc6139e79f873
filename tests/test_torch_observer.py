"""Which labels belong to which forward pass, where loaders are ahead of the model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import json, sys
from types import SimpleNamespace
import torch
from torch.utils.data import DataLoader, TensorDataset
from harness.frameworks.torch_observer import TorchObserver

events = []
observer = TorchObserver(lambda event, **fields: events.append({"event": event, **fields}))
observer.attach()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):  # the class that is marked in a row
        return SimpleNamespace(logits=x + 0.0 * self.inner(x))


def rows(labels):
    y = torch.tensor(labels)
    return DataLoader(TensorDataset(torch.nn.functional.one_hot(y, 3).float(), y), batch_size=2)


model, held = Model(), rows([0, 1, 1, 2, 2, 0])
train = iter(rows([0, 0, 1, 1, 2, 2]))
ahead = next(train)
for turn in range(2):
    now, ahead = ahead, next(train)
    model.train()
    loss = torch.nn.functional.cross_entropy(model(now[0]).logits, now[1])
    loss.backward()
    if turn == 0:  # an evaluation in between
        model.eval()
        with torch.no_grad():
            [model(x) for x, _ in held]
model.eval()
with torch.no_grad():
    [model(x) for x, _ in held]
observer.finish()
print(json.dumps([[event["labels"], event["predicted"]] for event in events if event["event"] == "evaluation"]))
"""


def test_a_loader_that_is_ahead_keeps_its_rows_to_itself(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    expected = [[0, 1, 1, 2, 2, 0]] * 2
    assert done.stdout.strip() == str([expected, expected])
