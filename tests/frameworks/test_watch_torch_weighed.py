"""Samplers whose weights are of classes, and of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, LOOP, found, watch

SAMPLED = """
from torch.utils.data import WeightedRandomSampler
labels = y[:320]
by_class = 1 / torch.bincount(labels).float()
sampler = WeightedRandomSampler(WEIGHTS, num_samples=320)
train = DataLoader(TensorDataset(X[:320], labels), batch_size=16, sampler=sampler)
"""


@pytest.mark.parametrize(("weights", "codes"), [("by_class", ["D122"]), ("by_class[labels]", [])])
def test_weights_of_a_sampler(tmp_path: Path, weights: str, codes: list[str]) -> None:
    seen = watch(tmp_path, HEAD + SAMPLED.replace("WEIGHTS", weights) + LOOP)
    assert found(seen)[:1] == codes
    if codes:
        assert seen.sites["sampler"].source == "sampler = WeightedRandomSampler(by_class, num_samples=320)"
