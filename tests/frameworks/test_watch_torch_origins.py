"""Where parts of a model come from: its weights, its saturating activations, its loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_torch import line_of
from tests.frameworks.watching import HEAD, LOOP, watch

pytest.importorskip("torch")

DRAWN = """
def draw(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight)
model.apply(draw)
"""


def test_weights_that_the_script_draws(tmp_path: Path) -> None:
    text = HEAD + DRAWN + LOOP
    assert watch(tmp_path, text).sites["weights_drawn"].line == line_of(text, "nn.init.normal_")


def test_weights_that_layers_draw_themselves(tmp_path: Path) -> None:
    assert "weights_drawn" not in watch(tmp_path, HEAD + LOOP).sites


def test_a_loss_and_an_activation_are_placed_where_they_are_built(tmp_path: Path) -> None:
    text = HEAD.replace("self.drop = ", "self.act = nn.Sigmoid()\n        self.drop = ").replace("torch.relu(", "self.act(")
    text = text + "choice = nn.CrossEntropyLoss()\n" + LOOP.replace("F.cross_entropy(", "choice(")
    sites = watch(tmp_path, text).sites
    assert sites["criterion"].line == line_of(text, "choice = nn")
    assert sites["saturating"].line == line_of(text, "nn.Sigmoid()")
    assert "criterion" not in watch(tmp_path, HEAD + LOOP).sites
