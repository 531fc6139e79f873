"""One batch for all steps: a seed that is set before each, a loader that is begun anew, a dataset that does not look at its number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import HEAD as KERAS_HEAD
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, found, watch

LOOP = """
import numpy as np
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=SHUFFLE)
first = next(iter(loader))
for number in range(30):
    BATCH
    optimizer.zero_grad()
    loss = F.cross_entropy(model(xb), yb)
    loss.backward()
    optimizer.step()
"""
DRAWN = "torch.manual_seed(3); ids = torch.randint(0, 400, (16,)); xb, yb = X[ids], y[ids]"
NUMPY = "ids = torch.from_numpy(np.random.default_rng(SEED).integers(0, 400, 16)); xb, yb = X[ids], y[ids]"
KERAS = """
class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 40
    def __getitem__(self, index):
        ids = np.random.default_rng(SEED).integers(0, 640, 16)
        return x[ids], y[ids]
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(Batches(), epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("batch", "seed"), [(DRAWN, 3), (NUMPY.replace("SEED", "5"), 5), ("xb, yb = next(iter(loader))", None)])
def test_one_batch_for_all_steps(tmp_path: Path, batch: str, seed: int | None) -> None:
    seen = watch(tmp_path, HEAD + LOOP.replace("BATCH", batch).replace("SHUFFLE", "False"))
    facts = seen.probes.same_batch
    assert found(seen) == ["D112"]
    assert facts is not None
    assert (facts.rows, facts.seed) == (16, seed)
    assert facts.site is not None
    assert facts.site.source == batch


@pytest.mark.parametrize("batch", [
    "xb, yb = X, y",  # all rows at every step
    "xb, yb = first",  # one batch that was taken on purpose
    "torch.manual_seed(number); ids = torch.randint(0, 400, (16,)); xb, yb = X[ids], y[ids]",
    NUMPY.replace("SEED", "number"),
    "torch.manual_seed(3); at = 16 * (number % 25); xb, yb = X[at:at + 16], y[at:at + 16]",
])
def test_what_repeats_on_purpose_or_does_not(tmp_path: Path, batch: str) -> None:
    seen = watch(tmp_path, HEAD + LOOP.replace("BATCH", batch).replace("SHUFFLE", "False"))
    assert seen.probes.same_batch is None


def test_a_loader_that_shuffles_anew_gives_another_first_batch(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + LOOP.replace("BATCH", "xb, yb = next(iter(loader))").replace("SHUFFLE", "True"))
    assert seen.probes.same_batch is None


@pytest.mark.parametrize(("seed", "codes"), [("7", ["D112"]), ("index", [])])
def test_keras(tmp_path: Path, seed: str, codes: list[str]) -> None:
    text = KERAS_HEAD.replace("NAME", "keras") + KERAS.replace("SEED", seed)
    assert [code for code in found(watch_keras(tmp_path, text)) if code == "D112"] == codes
