"""Columns that a script adds to a dataset or hides, blocks that it cuts, and methods that stand in place of a library's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.observation import Observation
from tests.frameworks.test_watch_torch import line_of
from tests.frameworks.watching import watch

pytest.importorskip("torch")
pytest.importorskip("datasets")
pytest.importorskip("transformers")

TRAINER = """
import tempfile
import torch, torch.nn as nn, torch.nn.functional as F
from datasets import Dataset
from transformers import (BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel, RobertaConfig,
                          RobertaForSequenceClassification, Trainer, TrainingArguments, default_data_collator)
torch.manual_seed(0)
args = TrainingArguments(tempfile.mkdtemp(), max_steps=4, per_device_train_batch_size=8, logging_steps=2, report_to=[], save_strategy="no",
                         use_cpu=True, disable_tqdm=True)
small = dict(vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
"""
PADDED = TRAINER + """
rows = [{"input_ids": [2, 5 + k % 9, 3] + [0] * 9, "attention_mask": [1] * 3 + [0] * 9, "labels": k % 2} for k in range(64)]
data = Dataset.from_list(rows)
HIDE
model = BertForSequenceClassification(BertConfig(max_position_embeddings=12, **small))
trainer = Trainer(model, args, train_dataset=data)
trainer.train()
"""
BLOCKS = TRAINER + """
def blocks(batch):
    ids = sum(batch["input_ids"], [])
    cut = [ids[at:at + 16] for at in range(0, len(ids), 16)]
    return {"input_ids": cut, "labels": cut}
data = Dataset.from_dict({"input_ids": [[k % 40] * 11 for k in range(30)]}).map(blocks, batched=True)
model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=8, n_layer=1, n_head=2))
trainer = Trainer(model, args, train_dataset=data, data_collator=default_data_collator)
trainer.train()
"""
OWN = TRAINER + """
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
    def forward(self, x, label=None):
        logits = self.layer(x)
        return {"loss": F.cross_entropy(logits, label) if label is not None else None, "logits": logits}
data = Dataset.from_list([{"x": [0.1 * k, 1.0, 2.0], "label": k % 2} for k in range(64)])
Trainer(Own(), args, train_dataset=data).train()
"""
LOGS = OWN.replace("label=None", "labels=None").replace(", label) if label", ", labels) if labels") \
    .replace("Trainer(Own()", """
class Logging(Trainer):
    def log(self, logs):
        super().log(logs)
Logging(Own()""")
BOOL = TRAINER + """
x, y = torch.randn(32, 3), torch.randn(32, 1) > 0
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    loss = nn.BCEWithLogitsLoss()(model(x), y)
    loss.backward()
"""
CAST = TRAINER + """
x, y = torch.randn(32, 3), MADE
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, k):
        label = y[k]CAST
        return x[k], label
model = nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters())
for xb, yb in torch.utils.data.DataLoader(Rows(), batch_size=8):
    F.cross_entropy(model(xb), yb).backward()
"""
TF = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tf_keras as keras
from datasets import Dataset
data = Dataset.from_dict({"x": [[k / 64, 1.0] for k in range(64)], "label": [k % 2 for k in range(64)], "name": ["a"] * 64})
train = data.to_tf_dataset(columns=["x"], label_cols=["label"], batch_size=16)
model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, verbose=0)
"""
MULTI = TRAINER + """
rows = {"input_ids": [[2, 5 + k % 9, 3] for k in range(64)], "attention_mask": [[1] * 3] * 64, "labels": [[k % 2, 1] for k in range(64)]}
data = Dataset.from_dict(rows)
model = BertForSequenceClassification(BertConfig(problem_type="multi_label_classification", **small))
Trainer(model, args, train_dataset=data).train()
"""
UNNAMED = TRAINER + """
rows = [{"text": "ab", "liked": k % 2} for k in range(64)]
table = Dataset.from_list(rows)
data = table.map(lambda row: {"input_ids": [2, 5 + row["liked"], 3], "attention_mask": [1] * 3})
model = BertForSequenceClassification(BertConfig(**small))
Trainer(model, args, train_dataset=data).train()
"""
KEPT = TRAINER + """
class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.x = torch.randn(32, 3)
        self.y = self.x > 0
    def __len__(self):
        return 32
    def __getitem__(self, k):
        RETURN
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x, labels):
        logits = self.layer(x)
        return {"loss": F.binary_cross_entropy_with_logits(logits, labels), "logits": logits}
Trainer(Own(), args, train_dataset=Rows()).train()
"""
LONG = TRAINER + """
config = RobertaConfig(
    max_position_embeddings=16,
    pad_token_id=1,
    **small,
)
model = RobertaForSequenceClassification(config)
data = Dataset.from_list([{"input_ids": [5] * 16, "attention_mask": [1] * 16, "labels": k % 2} for k in range(64)])
Trainer(model, args, train_dataset=data).train()
"""


def found(seen: Observation, code: str) -> tuple[int, str]:
    """Line and message of a finding."""
    finding = next(result.finding for result in walk(seen) if result.code == code)
    assert finding is not None
    assert finding.site is not None
    return finding.site.line, finding.message


@pytest.mark.parametrize("hide", ['data.set_format("torch", columns=["input_ids", "labels"])',
                                  'data = data.remove_columns("attention_mask")',
                                  'data = data.with_format("torch", columns=["input_ids", "labels"])',
                                  'data = data.select_columns(["input_ids", "labels"])'])
def test_a_mask_is_hidden_where_the_script_leaves_the_column_out(tmp_path: Path, hide: str) -> None:
    text = PADDED.replace("HIDE", hide)
    seen = watch(tmp_path, text)
    assert seen.hidden["attention_mask"].line == line_of(text, hide)


def test_what_a_trainer_leaves_out_by_itself_is_not_the_script_s(tmp_path: Path) -> None:
    text = PADDED.replace("HIDE", 'data = data.add_column("of_no_use", [0] * 64)')
    seen = watch(tmp_path, text)
    assert seen.hidden == {}
    assert seen.made["of_no_use"].line == line_of(text, "of_no_use")


def test_what_the_watcher_asks_of_a_dataset_hides_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    pytest.importorskip("tf_keras")
    seen = watch(tmp_path, TF)
    assert seen.loaders[0].label_counts == {"0": 32, "1": 32}
    assert seen.hidden == {}


def test_blocks_of_a_stream_with_a_remainder(tmp_path: Path) -> None:
    seen = watch(tmp_path, BLOCKS)
    line, message = found(seen, "B101")
    assert line == line_of(BLOCKS, "def blocks")
    assert "cut into blocks" in message


def test_a_model_of_one_s_own_calls_its_labels_otherwise(tmp_path: Path) -> None:
    seen = watch(tmp_path, OWN)
    line, message = found(seen, "D102")
    assert line == line_of(OWN, "def forward")
    assert "`label`" in message


def test_a_method_that_stands_in_place_of_a_library_s(tmp_path: Path) -> None:
    seen = watch(tmp_path, LOGS)
    line, message = found(seen, "A701")
    assert line == line_of(LOGS, "def log")
    assert "Trainer.log(self, logs" in message


def test_a_method_that_the_script_itself_calls_wrongly_is_no_override(tmp_path: Path) -> None:
    text = LOGS.replace(".train()", "").replace("Logging(Own()", "trainer = Logging(Own()") + "trainer.log({}, 3)\n"
    seen = watch(tmp_path, text)
    assert seen.exception is not None
    assert seen.exception.overrides == ""


def test_truth_values_in_a_loss(tmp_path: Path) -> None:
    assert found(watch(tmp_path, BOOL), "L202")[0] == line_of(BOOL, "x, y =")


def test_a_position_table_that_the_script_itself_makes(tmp_path: Path) -> None:
    assert found(watch(tmp_path, LONG), "F101")[0] == line_of(LONG, "max_position_embeddings")


@pytest.mark.parametrize(("cast", "part"), [(".int()", "y[k].int()"), ("", "x, y =")])
def test_labels_are_mended_where_they_are_cast(tmp_path: Path, cast: str, part: str) -> None:
    made = f"torch.randint(0, 2, (32,){'' if cast else ', dtype=torch.int32'})"
    text = CAST.replace("CAST", cast).replace("MADE", made)
    assert found(watch(tmp_path, text), "L202")[0] == line_of(text, part)


def test_labels_of_another_kind_are_mended_where_the_dataset_is_made(tmp_path: Path) -> None:
    assert found(watch(tmp_path, MULTI), "L202")[0] == line_of(MULTI, "from_dict")


def test_a_column_of_numbers_that_no_model_takes_may_be_the_labels(tmp_path: Path) -> None:
    line, message = found(watch(tmp_path, UNNAMED), "D102")
    assert line == line_of(UNNAMED, "from_list")
    assert "`liked`" in message


def test_of_two_columns_of_numbers_none_is_called_the_labels(tmp_path: Path) -> None:
    text = UNNAMED.replace('"text": "ab"', '"text": "ab", "number": k')
    assert "is in the column" not in found(watch(tmp_path, text), "D102")[1]


@pytest.mark.parametrize(("returned", "part"), [('return {"x": self.x[k], "labels": self.y[k]}', "self.y ="),
                                                ('labels = self.y[k] == True; return {"x": self.x[k], "labels": labels}', "labels = self")])
def test_labels_are_mended_where_a_dataset_of_one_s_own_makes_them(tmp_path: Path, returned: str, part: str) -> None:
    text = KEPT.replace("RETURN", returned)
    assert found(watch(tmp_path, text), "L202")[0] == line_of(text, part)


def test_labels_of_another_name_in_a_dataset_of_one_s_own(tmp_path: Path) -> None:
    text = KEPT.replace("def forward(self, x, labels):", "def forward(self, x, labels=None):") \
        .replace('{"loss": F.binary', '{"logits": logits} if labels is None else {"loss": F.binary') \
        .replace("RETURN", 'return {"x": self.x[k], "kind": self.y[k]}')
    assert found(watch(tmp_path, text), "D102")[0] == line_of(text, '"kind"')


@pytest.mark.parametrize("named", [False, True])
def test_a_column_of_plain_rows_that_only_the_model_asks_for(tmp_path: Path, *, named: bool) -> None:
    """Rows of a dataset of the script's own, which tells no names of columns."""
    taken, read = ("age=None", "age") if named else ("**rest", 'rest.get("age", torch.zeros(1))')
    text = OWN.replace("label=None):", f"labels=None, {taken}):").replace(", label) if label", ", labels) if labels").replace(
        "self.layer(x)", f"self.layer(x) + {read}[:, None]")
    text = text.replace("Dataset.from_list([", "list([").replace('"label": k', '"age": 1.0, "label": k')
    seen = watch(tmp_path, text)
    codes = [result.code for result in walk(seen) if result.state == "found"]
    assert ("D101" in codes) is not named, (codes, seen.loaders, seen.exception)
