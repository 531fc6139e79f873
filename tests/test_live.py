"""`harness.diagnose` on live objects: it names the fault, and leaves everything bit for bit as it was."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest

import harness
from harness.errors import BadParameter

pytestmark = pytest.mark.long
torch = pytest.importorskip("torch")


def snapshot(value: Any) -> Any:
    """A comparable copy of a state: tensors as bytes."""
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.detach().numpy().tobytes()
    if isinstance(value, dict):
        return {key: snapshot(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [snapshot(item) for item in value]
    return copy.deepcopy(value)


def generators() -> Any:
    return snapshot([torch.get_rng_state(), random.getstate(), list(map(str, np.random.get_state()))])


def pieces(rate: float) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    inputs = torch.randn(320, 10)
    targets = (inputs[:, 0] + inputs[:, 1] > 0).long()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, targets), batch_size=16, shuffle=True,
                                         generator=torch.Generator().manual_seed(3))
    model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Dropout(0.1),
                                torch.nn.Linear(32, 2))
    return model, loader, torch.optim.Adam(model.parameters(), lr=rate)


def test_a_model_with_its_loader_is_judged_and_left_alone() -> None:
    model, loader, optimizer = pieces(1e-2)
    loss = torch.nn.CrossEntropyLoss()
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss(model(inputs), targets).backward()
        optimizer.step()
    model.eval()
    before = snapshot([model.state_dict(), optimizer.state_dict(), loader.generator.get_state()]), generators(), model.training
    found = harness.diagnose(model, loader, loss=loss, optimizer=optimizer, seconds=8)
    assert (snapshot([model.state_dict(), optimizer.state_dict(), loader.generator.get_state()]), generators(), model.training) == before
    assert found.verdict == "clean", str(found)
    assert "Nothing found" in str(found)


def test_the_first_cause_is_named() -> None:
    model, loader, optimizer = pieces(1e-2)
    model[-1] = torch.nn.Linear(32, 1)
    optimizer = torch.optim.Adam(model.parameters())
    found = harness.diagnose(model, loader, loss=torch.nn.CrossEntropyLoss(), optimizer=optimizer, seconds=8)
    assert found.verdict == "found"
    assert found.first.stage in ("data", "loss")
    assert "|" in found._repr_markdown_()


def test_what_cannot_be_diagnosed_is_said() -> None:
    with pytest.raises(BadParameter, match="a dict cannot be diagnosed; give a Trainer"):
        harness.diagnose({})
    with pytest.raises(BadParameter, match="needs the batches and the optimizer"):
        harness.diagnose(torch.nn.Linear(1, 1))
    model, _, optimizer = pieces(1e-2)
    with pytest.raises(BadParameter, match="no target in a batch of input; call it labels"):
        harness.diagnose(model, [{"input": torch.ones(4, 10)}], loss=torch.nn.CrossEntropyLoss(), optimizer=optimizer)


def test_a_trainer_is_judged_and_left_alone(tmp_path: Any) -> None:
    from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

    torch.manual_seed(0)
    rows = [{"input_ids": [2, *[5 + label * 20 + number % 15 for number in range(index, index + 6)], 3], "attention_mask": [1] * 8,
             "labels": label} for index in range(60) for label in (0, 1)]
    config = DistilBertConfig(vocab_size=60, dim=32, hidden_dim=64, n_layers=2, n_heads=2, num_labels=2)
    model = DistilBertForSequenceClassification(config)
    arguments = TrainingArguments(output_dir=str(tmp_path / "out"), max_steps=40, learning_rate=1e-2, per_device_train_batch_size=8,
                                  report_to="none", use_cpu=True)
    trainer = Trainer(model, arguments, train_dataset=rows, eval_dataset=rows[:16])
    before = snapshot(model.state_dict()), generators(), copy.copy(vars(trainer)), copy.copy(vars(trainer.args)), model.training
    found = harness.diagnose(trainer, seconds=8)
    assert found.verdict == "clean", str(found)
    assert found.losses
    assert (snapshot(model.state_dict()), generators(), vars(trainer), vars(trainer.args), model.training) == before
    assert not list((tmp_path / "out").glob("*"))
    trainer.train()
    assert trainer.state.global_step == 40


@pytest.mark.parametrize("fitted", [False, True], ids=["never fitted", "fitted before"])
def test_a_keras_model_is_judged_and_left_alone(fitted: bool) -> None:
    tf_keras = pytest.importorskip("tf_keras")
    tf_keras.utils.set_random_seed(0)
    inputs = np.random.default_rng(0).normal(size=(320, 10)).astype("float32")
    targets = (inputs[:, 0] + inputs[:, 1] > 0).astype("int64")
    model = tf_keras.Sequential([tf_keras.Input((10,)), tf_keras.layers.Dense(32, activation="relu"), tf_keras.layers.Dense(2)])
    model.compile(tf_keras.optimizers.Adam(1e-2), tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    if fitted:
        model.fit(inputs, targets, epochs=1, verbose=0)
    optimizer = model.optimizer

    def state() -> Any:
        return ([weight.tobytes() for weight in model.get_weights()], [value.numpy().tobytes() for value in optimizer.variables],
                random.getstate(), [str(part) for part in np.random.get_state()])

    before = state()
    found = harness.diagnose(model, inputs, targets, batch_size=16, seconds=8)
    assert model.optimizer is optimizer
    assert state() == before
    assert found.verdict == "clean", str(found)
    assert found.losses
    model.fit(inputs, targets, epochs=20, verbose=0)
    assert model.evaluate(inputs, targets, verbose=0)[1] > 0.9


def test_a_cell_is_judged() -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "harness.magic")
    shell.run_cell("import torch\ntorch.manual_seed(0)\nx = torch.randn(64, 4); y = x.sum(1, keepdim=True)\nmodel = torch.nn.Linear(4, 1)")
    cell = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(30):
    loss = torch.nn.functional.mse_loss(model(x), y[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    with pytest.raises(BadParameter, match="takes seconds"):
        shell.run_cell_magic("diagnose", "soon", cell)
    found = shell.run_cell_magic("diagnose", "6", cell)
    assert found.first.code == "L203"
    assert "mse_loss(model(x), y[:, 0])" in found.first.finding.site.source
