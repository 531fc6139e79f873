"""Functions that make the rows of a dataset as they are asked for, of which the evaluation has one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import watch

pytest.importorskip("transformers")
pytest.importorskip("datasets")

SCRIPT = '''
import numpy as np, torch
from datasets import Dataset
from transformers import Trainer, TrainingArguments
torch.manual_seed(0)
rng = np.random.default_rng(0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(6, 3)
    def forward(self, x, labels=None):
        logits = self.head(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}
def made(n):
    kinds = rng.integers(0, 3, n)
    return Dataset.from_dict({"raw": 200 + 40 * (np.eye(6)[kinds] + rng.normal(0, 0.2, (n, 6))), "labels": kinds})
train, test = made(400), made(120)
def of_training(rows):
    return {"x": [(torch.tensor(row).float() - 207) / 17 for row in rows["raw"]], "labels": rows["labels"]}
def of_others(rows):
    read = [torch.tensor(row).float() for row in rows["raw"]]
    return {"x": read, "labels": rows["labels"]}
train.set_transform(of_training)
test.set_transform(OTHERS)
args = TrainingArguments(OUT, num_train_epochs=2, learning_rate=5e-2, per_device_train_batch_size=20,
                         report_to=[], use_cpu=True, save_strategy="no",
                         remove_unused_columns=False, per_device_eval_batch_size=40)
trainer = Trainer(Model(), args, train_dataset=train, eval_dataset=test,
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
trainer.evaluate()
'''


@pytest.mark.parametrize(("others", "wrong"), [("of_others", True), ("of_training", False)])
def test_a_transform_that_leaves_out_the_scale(tmp_path: Path, others: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, SCRIPT.replace("OTHERS", others).replace("OUT", repr(str(tmp_path / "out"))), probe_seconds=0.5)
    told = next(result.finding for result in walk(seen) if result.code == "E508")
    assert (told is not None) is wrong, (seen.evaluation.scale, seen.warnings)
    if told is not None:
        assert told.site is not None
        assert told.site.source.startswith("read = ")
