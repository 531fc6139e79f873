"""Scripts that train more than once: an optimizer from before, another loader, and those that are in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_torch_hidden import first
from tests.frameworks.watching import HEAD, watch

pytest.importorskip("torch")

FOLDS = """
for fold in range(3):
    for epoch in range(2):
        for at in range(0, 320, 16):
            loss = F.cross_entropy(model(X[at:at + 16]), y[at:at + 16])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model = Net()
    AGAIN
"""


def test_an_optimizer_of_an_earlier_model(tmp_path: Path) -> None:
    found = first(watch(tmp_path, HEAD + FOLDS.replace("AGAIN", "pass")))
    assert found is not None
    assert found[0] == "S405"
    assert "From its step 41 on" in found[1].message
    renewed = FOLDS.replace("AGAIN", "optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)")
    assert watch(tmp_path, HEAD + renewed).later is None


TRANSFER = """
class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 32), torch.nn.ReLU())
        self.head = torch.nn.Linear(32, 3)
    def forward(self, x):
        return self.head(self.body(x))
def fit(model, optimizer, loader, epochs):
    for epoch in range(epochs):
        for xb, yb in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(xb), yb).backward()
            optimizer.step()
        with torch.no_grad():
            print((model(X).argmax(1) == y).float().mean())
model = Two()
fit(model, torch.optim.Adam(model.parameters(), lr=1e-2), train, 5)
THAW
FIRST
SECOND
fit(model, optimizer, train, 5)
"""


@pytest.mark.parametrize("frozen", [True, False])
def test_an_optimizer_of_a_later_training(tmp_path: Path, *, frozen: bool) -> None:
    thaw = "model.body.requires_grad_(False)" if frozen else ""
    made = "optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)"
    new = "model.head = torch.nn.Linear(32, 3)"
    early = HEAD + TRANSFER.replace("THAW", thaw).replace("FIRST", made).replace("SECOND", new)
    found = first(watch(tmp_path, early))
    assert found is not None
    assert found[0] == "S405"
    assert ("no weight of the model" in found[1].message) == frozen
    assert found[1].site is not None
    assert found[1].site.source == made
    late = HEAD + TRANSFER.replace("THAW", thaw).replace("FIRST", new).replace("SECOND", made)
    seen = watch(tmp_path, late)
    assert seen.later is None
    assert first(seen) is None


TWICE = """
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2)), nn.Linear(32, 10)
    def forward(self, x):
        return self.head(self.body(x))
model = Half()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for xb, _ in DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True):
        loss = F.mse_loss(model(xb), xb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.head = nn.Linear(32, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test))
"""


def test_a_second_training_on_another_loader_is_no_evaluation(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + TWICE)
    assert seen.evaluation.in_training_mode == 0
    assert seen.evaluation.forwards == 2
    assert seen.later is None
    assert first(seen) is None


BASELINE = """
with torch.no_grad():
    print(sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test))
for xb, yb in train:
    loss = F.cross_entropy(model(xb.double()), yb)
    loss.backward()
"""


def test_a_training_that_breaks_after_a_baseline(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + BASELINE)
    assert seen.exception is not None
    assert {loader.role: loader.batch_size for loader in seen.loaders} == {"eval": 40, "train": 16}


THAWED = HEAD + """
model.a.requires_grad_(False)
optimizer = torch.optim.Adam([weight for weight in model.parameters() if HELD], lr=1e-2)
for epoch in range(3):
    if epoch == 1:
        model.a.requires_grad_(True)
        HANDED
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("held", "handed", "fault"), [
    ("weight.requires_grad", "pass", True), ("True", "pass", False),
    ("weight.requires_grad", 'optimizer.add_param_group({"params": model.a.parameters()})', False)])
def test_weights_set_free_after_the_optimizer_was_made(tmp_path: Path, held: str, handed: str, *, fault: bool) -> None:
    found = first(watch(tmp_path, THAWED.replace("HELD", held).replace("HANDED", handed), steps=60))
    assert (found is not None and found[0] == "S405") is fault, found
    if found is not None:
        assert "2 weights were set free before step 21" in found[1].message
        assert found[1].site is not None
        assert found[1].site.source == "model.a.requires_grad_(True)"
