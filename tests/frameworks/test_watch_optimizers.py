"""Optimizers that share a loss, what Keras' weights stand for, places of blocks and labels, and what is kept of an exception."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest

from harness.frameworks.watch import exceptions, written
from harness.frameworks.watch.sites import Sites
from harness.frameworks.watch.torch_files import Files
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

SHARED = """
import torch
torch.manual_seed(0)
x = torch.randn(960, 10)
y = (x[:, 0] + x[:, 1] > 0).float()
body, head = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU()), torch.nn.Linear(16, 1)
first = torch.optim.SGD(head.parameters(), lr=0.05, momentum=0.9)
second = torch.optim.Adam(body.parameters(), lr=1e-3)
for epoch in range(2):
    for at in range(0, 960, 32):
        ZERO
        loss = torch.nn.functional.binary_cross_entropy_with_logits(head(body(x[at:at + 32])).squeeze(1), y[at:at + 32])
        loss.backward()
        first.step()
        second.step()
"""


@pytest.mark.parametrize(("zero", "codes"), [("first.zero_grad(); second.zero_grad()", []), ("second.zero_grad()", ["S403"])])
def test_optimizers_that_step_for_one_loss_are_one_training(tmp_path: Path, zero: str, codes: list[str]) -> None:
    seen = watch(tmp_path, SHARED.replace("ZERO", zero), steps=40)
    assert seen.models_stepped == 1
    assert found(seen) == codes


STAND_FOR = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
x = np.random.randn(640, 6).astype("float32")
y = (x[:, :1] > 0).astype("float32")


class Added(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        grads = tape.gradient(loss, [weight.value for weight in self.trainable_variables])
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


inputs = keras.Input((6,))
model = Added(inputs, keras.layers.Dense(1)(inputs))
model.compile(keras.optimizers.Adam(0.05), loss=keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=3, verbose=0)
"""


def test_gradients_of_what_the_weights_stand_for(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    seen = watch(tmp_path, STAND_FOR)
    assert found(seen) == []
    assert seen.model is not None
    assert all(parameter.gradient_norm for parameter in seen.model.parameters)


def test_long_values_do_not_push_the_sentence_out_of_a_message(tmp_path: Path) -> None:
    frames = "\n".join(f'  File "/lib/python/site-packages/framework/part_{n}.py", line {n}, in call' for n in range(80))
    told = "Received a label value of -100 which is outside the valid range of [0, 4).  Label values: " + "-100 " * 2000
    seen = exceptions.facts(ValueError(f"Graph execution error:\n{frames}\n{told}\n\t [[node]]"), Sites(tmp_path / "train.py"), {})
    assert "outside the valid range of [0, 4)" in seen.message
    assert len(seen.message) < 5000


def test_an_argument_that_is_refused_is_named_on_its_own_line(tmp_path: Path) -> None:
    text = "import torch\nloader = torch.utils.data.DataLoader(\n    [1, 2, 3],\n    shuffle=True,\n    bach_size=2,\n)\n"
    seen = watch(tmp_path, text)
    assert found(seen) == ["A701"]
    assert seen.exception is not None
    assert seen.exception.site is not None
    assert seen.exception.site.source == "bach_size=2,"


BLOCKS = """
import torch


class Block(torch.nn.Sequential):
    def __init__(self, wide, out):
        super().__init__(
            torch.nn.Linear(wide, out), torch.nn.ReLU())


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(8, 16)
        self.second = Block(8, 4)

    def forward(self, x):
        return self.second(self.first(x))


Net()(torch.randn(4, 8)).sum().backward()
"""


def test_a_block_that_is_built_in_several_places(tmp_path: Path) -> None:
    seen = watch(tmp_path, BLOCKS)
    assert found(seen) == ["F103"]
    assert seen.sites["layer"].source == "self.second = Block(8, 4)"
    once = watch(tmp_path, BLOCKS.replace("self.first = Block(8, 16)", "self.first = torch.nn.Linear(8, 16)"))
    assert once.sites["layer"].source == "torch.nn.Linear(wide, out), torch.nn.ReLU())"


def test_the_line_that_writes_a_label_which_is_left_out(tmp_path: Path) -> None:
    script = tmp_path / "tags.py"
    script.write_text("kept = labels != -100\nif tag > -100:\n    pass\nids = [known.get(tag, -100) for tag in tags]\nrow[0] = -100\n")
    place = written.negative(-100, script)
    assert place is not None
    assert place[1] == 4
    assert written.negative(-1, script) is None


def test_scratch_files_are_gone_with_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    files = Files(cast("Any", None))
    path = Path(files.scratch("model.pt"))
    path.write_text("weights")
    assert path.parent.parent == tmp_path
    del files
    gc.collect()
    assert not list(tmp_path.iterdir())
