"""Weights that are loaded, and drawn anew before a model runs with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.observation import Observation
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, LOOP, found, watch

KERAS = ("keras", "tf_keras")
DRAW = """
def draw(part):
    if isinstance(part, nn.Linear):
        nn.init.xavier_uniform_(part.weight)
kept = {name: value.clone() for name, value in Net().state_dict().items()}
"""
BERT = """
import tempfile
from transformers import BertConfig, BertModel
path = tempfile.mkdtemp()
BertModel(BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=20)).save_pretrained(path)
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = BertModel.from_pretrained(path)
        self.head = nn.Linear(16, 2)
        PART.apply(self.draw)
    def draw(self, part):
        if isinstance(part, (nn.Linear, nn.Embedding)):
            part.weight.data.normal_(0.0, 0.02)
    def forward(self, x):
        return self.head(self.encoder(input_ids=x).pooler_output)
X = torch.randint(0, 20, (400, 6))
model = Reader()
train = DataLoader(TensorDataset(X, y), batch_size=16)
test = train
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
NETWORK = small.HEAD + """
import os, tempfile
def build():
    body = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8, activation="relu")])
    return body, keras.Sequential([body, keras.layers.Dense(1, activation="sigmoid")])
def draw(part):
    made = keras.initializers.HeNormal(seed=1)
    for layer in part.layers:
        if isinstance(layer, keras.layers.Dense):
            layer.kernel.assign(made(layer.kernel.shape))
path = os.path.join(tempfile.mkdtemp(), "w.weights.h5")
build()[0].save_weights(path)
body, model = build()
model.build((None, 10))
STEPS
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
"""


def line(seen: Observation) -> str:
    assert seen.restored is not None
    assert seen.restored.site is not None
    return seen.restored.site.source


@pytest.mark.parametrize(("steps", "over"), [
    (["model.load_state_dict(kept)", "model.apply(draw)"], "model.apply(draw)"),
    (["model.a.load_state_dict({'weight': kept['a.weight'], 'bias': kept['a.bias']})", "model.apply(draw)"], "model.apply(draw)"),
    (["model.load_state_dict(kept)", "for part in model.modules(): draw(part)"], "for part in model.modules(): draw(part)"),
    (["model.load_state_dict(kept)", "model.a.reset_parameters()", "model.b.reset_parameters()"], "model.b.reset_parameters()"),
    (["model.load_state_dict(kept)", "model.b.apply(draw)"], None),
    (["model.apply(draw)", "model.load_state_dict(kept)"], None),
    (["model.load_state_dict(kept)", "print(model(X[:4]))", "model.apply(draw)"], None),
    (["model.load_state_dict(kept)", "model.apply(draw)", "model.load_state_dict(kept)"], None),
    (["model.load_state_dict(kept)", "other = Net()", "other.apply(draw)"], None)])
def test_a_loop(tmp_path: Path, steps: list[str], over: str | None) -> None:
    seen = watch(tmp_path, HEAD + DRAW + "\n".join(steps) + LOOP)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert found(seen) == (["A704"] if over else [])
    assert over is None or line(seen) == over


@pytest.mark.parametrize(("part", "fault"), [("self", True), ("self.head", False)])
def test_what_comes_with_a_pretrained_part(tmp_path: Path, part: str, *, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + BERT.replace("PART", part) + LOOP)
    assert (seen.restored is not None) == fault
    assert not fault or line(seen) == "self.apply(self.draw)"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("steps", "over"), [
    (["body.load_weights(path)", "draw(body)"], "draw(body)"),
    (["draw(body)", "body.load_weights(path)"], None),
    (["body.load_weights(path)", "draw(model)"], None),
    (["body.load_weights(path)", "print(model.predict(x[:4], verbose=0))", "draw(body)"], None)])
def test_fit(tmp_path: Path, name: str, steps: list[str], over: str | None) -> None:
    seen = small.watch(tmp_path, NETWORK.replace("NAME", name).replace("STEPS", "\n".join(steps)))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert (found(seen) == ["A704"]) == (over is not None)
    assert over is None or line(seen) == over


BUILT = """
class Whole(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.head = body, nn.Linear(2, 2)
        PART.apply(draw)
    def forward(self, x):
        return self.head(self.body(x))
model.load_state_dict(kept)
model = Whole(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""


@pytest.mark.parametrize(("part", "fault"), [("self", True), ("self.head", False)])
def test_a_constructor_draws_what_it_is_given(tmp_path: Path, part: str, *, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + DRAW + BUILT.replace("PART", part) + LOOP)
    assert found(seen) == (["A704"] if fault else [])
    assert not fault or line(seen) == "self.apply(draw)"
