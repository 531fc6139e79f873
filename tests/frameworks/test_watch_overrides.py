"""Methods that are written for a library to call, under a name that it never calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, found, watch

FIT = """
class Rate(keras.callbacks.Callback):
    def METHOD(self, epoch, logs=None):
        self.model.optimizer.learning_rate = 0.1 / (epoch + 1)
        self.on_lower(epoch)
    def on_lower(self, epoch):
        print("lowered", epoch)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0, callbacks=[Rate()])
"""
TRAINER = HEAD + """
from transformers import Trainer, TrainerCallback, TrainingArguments
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def forward(self, x=None, labels=None):
        logits = self.net(x)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}
class Told(TrainerCallback):
    def EVENT(self, args, state, control, **kwargs):
        print("epoch", state.epoch)
class Mine(Trainer):
    def METHOD(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        loss = 2 * outputs["loss"]
        return (loss, outputs) if return_outputs else loss
rows = [{"x": row, "labels": label} for row, label in zip(X, y)]
arguments = TrainingArguments("out", num_train_epochs=2, report_to=[], disable_tqdm=True, use_cpu=True)
Mine(model=Head(), args=arguments, train_dataset=rows, callbacks=[Told()]).train()
"""


@pytest.mark.parametrize("keras", small.KERAS)
@pytest.mark.parametrize(("method", "fault"), [("on_epoch_start", True), ("on_epoch_begin", False)])
def test_a_callback_of_keras(tmp_path: Path, keras: str, method: str, *, fault: bool) -> None:
    seen = small.watch(tmp_path, small.HEAD.replace("NAME", keras) + FIT.replace("METHOD", method))
    assert found(seen) == (["A701"] if fault else [])
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "on_epoch_begin" in finding.remedy
        assert finding.site is not None
        assert finding.site.source.startswith("def on_epoch_start")


@pytest.mark.parametrize(("event", "method", "named"), [
    ("on_epoch_end", "compute_loss", None), ("on_epoch_finished", "compute_loss", "on_epoch_finished"),
    ("on_epoch_end", "compute_losses", "compute_losses")])
def test_a_trainer(tmp_path: Path, event: str, method: str, named: str | None) -> None:
    seen = watch(tmp_path, TRAINER.replace("EVENT", event).replace("METHOD", method))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert (seen.uncalled_override.name if seen.uncalled_override else None) == named
    assert found(seen) == (["A701"] if named else [])


def test_a_method_that_another_file_of_the_script_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lowering.py").write_text("def lower(callback):\n    callback.on_epoch_start(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = small.HEAD.replace("NAME", "keras") + "import lowering\n" + FIT.replace("METHOD", "on_epoch_start")
    assert found(small.watch(tmp_path, text)) == []
