"""The orders that samplers draw for the passes of a training."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

HEAD = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, TensorDataset
torch.manual_seed(0)
x = torch.randn(160, 8)
train = TensorDataset(x, (x[:, 0] + x[:, 1] > 0).long())
def net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
model = net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
def epoch_of(loader):
    for xb, yb in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
"""
DISTRIBUTED = HEAD + """
sampler = DistributedSampler(train, num_replicas=2, rank=0)
loader = DataLoader(train, batch_size=16, sampler=sampler)
for epoch in range(5):
    TOLD
    epoch_of(loader)
"""
SEEDED = HEAD + """
def seed_all(seed):
    torch.manual_seed(seed)
loader = DataLoader(train, batch_size=16, shuffle=True)
for epoch in range(4):
    SEED
    epoch_of(loader)
"""
GENERATOR = HEAD + """
generator = torch.Generator()
loader = DataLoader(train, batch_size=16, shuffle=True, generator=generator)
for epoch in range(4):
    SEED
    epoch_of(loader)
"""
TRIES = HEAD + """
loader = DataLoader(train, batch_size=16, shuffle=True)
for rate in (0.01, 0.003, 0.001):
    torch.manual_seed(0)
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    epoch_of(loader)
"""


@pytest.mark.parametrize(("text", "line"), [
    (DISTRIBUTED.replace("TOLD", "pass"), "sampler = DistributedSampler(train, num_replicas=2, rank=0)"),
    (DISTRIBUTED.replace("TOLD", "sampler.set_epoch(7)"), "sampler = DistributedSampler(train, num_replicas=2, rank=0)"),
    (SEEDED.replace("SEED", "seed_all(3)"), "seed_all(3)"), (SEEDED.replace("SEED", "torch.manual_seed(3)"), "torch.manual_seed(3)"),
    (GENERATOR.replace("SEED", "generator.manual_seed(3)"),
     "loader = DataLoader(train, batch_size=16, shuffle=True, generator=generator)")])
def test_one_order_for_all_passes(tmp_path: Path, text: str, line: str) -> None:
    seen = watch(tmp_path, text, steps=24, probe_seconds=0.3)
    assert seen.warnings == []
    assert "D119" in found(seen)
    assert seen.same_order is not None
    place = seen.same_order.seed or seen.same_order.site or next(loader.site for loader in seen.loaders if loader.role == "train")
    assert place is not None
    assert place.source == line


@pytest.mark.parametrize("text", [
    DISTRIBUTED.replace("TOLD", "sampler.set_epoch(epoch)"), DISTRIBUTED.replace("TOLD", "pass").replace("rank=0", "rank=0, shuffle=False"),
    SEEDED.replace("SEED", "pass"), SEEDED.replace("SEED", "seed_all(epoch)"), GENERATOR.replace("SEED", "pass"),
    GENERATOR.replace("SEED", "generator.manual_seed(epoch)"), TRIES])
def test_orders_of_their_own(tmp_path: Path, text: str) -> None:
    seen = watch(tmp_path, text, steps=24, probe_seconds=0.3)
    assert seen.warnings == []
    assert "D119" not in found(seen)


def test_passes_that_are_only_looked_at(tmp_path: Path) -> None:
    text = HEAD + """
held = DataLoader(train, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(1))
loader = DataLoader(train, batch_size=16, shuffle=True)
for epoch in range(4):
    epoch_of(loader)
    held.sampler.generator.manual_seed(1)
    with torch.no_grad():
        right = sum((model(xb).argmax(1) == yb).sum() for xb, yb in held)
"""
    assert "D119" not in found(watch(tmp_path, text, steps=24, probe_seconds=0.3))


OWN = HEAD + """
class Own(torch.utils.data.Sampler):
    def __init__(self):
        self.generator, self.passes = torch.Generator(), 0
    def __len__(self):
        return 64
    def __iter__(self):
        self.passes += 1
        SEED
        order = torch.randperm(160, generator=self.generator)[:64].tolist()
        return iter(ORDER)
loader = DataLoader(train, SAMPLED)
for epoch in range(4):
    epoch_of(loader)
"""
ROWS, BATCHES = "order", "[order[start:start + 16] for start in range(0, 64, 16)]"
ALONE, BATCHED = "batch_size=16, sampler=Own()", "batch_sampler=Own()"


@pytest.mark.parametrize(("order", "sampled"), [(ROWS, ALONE), (BATCHES, BATCHED)])
@pytest.mark.parametrize(("seed", "fault"), [
    ("self.generator.manual_seed(3)", True), ("self.generator.manual_seed(3 + self.passes)", False), ("pass", False)])
def test_a_sampler_of_the_scripts_own(tmp_path: Path, order: str, sampled: str, seed: str, *, fault: bool) -> None:
    text = OWN.replace("SEED", seed).replace("ORDER", order).replace("SAMPLED", sampled)
    seen = watch(tmp_path, text, steps=24, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("D119" in found(seen)) is fault
    if fault:
        assert seen.same_order is not None
        assert seen.same_order.seed is not None
        assert seen.same_order.seed.source == seed
