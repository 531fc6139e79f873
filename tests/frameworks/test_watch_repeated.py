"""Lists of layers that hold one layer several times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, LOOP, found, watch

NET = HEAD + """
def block():
    return nn.Sequential(nn.Linear(10, 10), nn.ReLU())
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        one = nn.Linear(10, 10)
        self.blocks, self.out = BLOCKS, nn.Linear(10, 2)
    def forward(self, x):
        for part in self.blocks:
            x = x + part(x)
        return self.out(x)
model = Deep()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
""" + LOOP
KERAS = small.HEAD + """
class Deep(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks, self.out = BLOCKS, keras.layers.Dense(1, activation="sigmoid")
    def call(self, x):
        for part in self.blocks:
            x = x + part(x)
        return self.out(x)
model = Deep()
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("blocks", "fault"), [
    ("nn.ModuleList([nn.Linear(10, 10)] * 3)", True), ("nn.Sequential(*[nn.Linear(10, 10)] * 3)", True),
    ("nn.Sequential(*(3 * [block()]))", True), ("nn.ModuleList([one] * 3)", True), ("nn.ModuleList([one for _ in range(3)])", True),
    ("nn.ModuleList([nn.Linear(10, 10) for _ in range(3)])", False), ("nn.Sequential(*[nn.ReLU()] * 3)", False),
    ("nn.ModuleList([one, one, one])", False)])  # shared on purpose
def test_torch(tmp_path: Path, blocks: str, *, fault: bool) -> None:
    seen = watch(tmp_path, NET.replace("BLOCKS", blocks), steps=40, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert (found(seen) == ["F112"]) == fault
    if fault:
        assert seen.repeated is not None
        assert seen.repeated.times == 3
        assert seen.repeated.site is not None
        assert "self.blocks" in seen.repeated.site.source


@pytest.mark.parametrize("name", small.KERAS)
@pytest.mark.parametrize(("blocks", "fault"), [
    ("[keras.layers.Dense(10)] * 3", True), ("[keras.layers.Dense(10) for _ in range(3)]", False),
    ("[keras.layers.ReLU()] * 2", False)])
def test_keras(tmp_path: Path, name: str, blocks: str, *, fault: bool) -> None:
    seen = small.watch(tmp_path, KERAS.replace("NAME", name).replace("BLOCKS", blocks), steps=20, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert (found(seen)[:1] == ["F112"]) == fault, seen.warnings
