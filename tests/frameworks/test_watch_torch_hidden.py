"""What is wrong although every step looks right: draws without a gradient, lost masks, warm-ups without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import Finding, walk
from harness.checks.observation import Observation
from harness.diagnosis.record import conclude
from harness.diagnosis.silence import unjudged
from tests.frameworks.test_watch_torch_trainer import TRAINER
from tests.frameworks.watching import HEAD, LOOP, watch

pytest.importorskip("torch")


def first(seen: Observation) -> tuple[str, Finding] | None:
    return next(((result.code, result.finding) for result in walk(seen) if result.state == "found" and result.finding), None)


VAE = """
from torch.distributions import Independent, Normal
encoder, decoder = nn.Linear(10, 4), nn.Linear(2, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for xb, _ in train:
    mean, log_std = encoder(xb).chunk(2, dim=1)
    q = Independent(Normal(mean, log_std.exp()), 1)
    z = q.rsample()
    loss = F.mse_loss(decoder(z), xb) + 1e-2 * (mean ** 2 + log_std.exp() ** 2 - 2 * log_std).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
POLICY = """
from torch.distributions import Normal
policy = nn.Linear(10, 1)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for xb, yb in train:
    d = Normal(policy(xb).squeeze(-1), 0.5)
    action = d.sample()
    loss = (d.log_prob(action) * (action - yb) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_draw_without_a_gradient(tmp_path: Path) -> None:
    text = HEAD + VAE.replace("rsample", "sample")
    found = first(watch(tmp_path, text))
    assert found is not None
    assert found[0] == "G302"
    assert found[1].site is not None
    assert found[1].site.source == "z = q.sample()"


@pytest.mark.parametrize("text", [VAE, POLICY, VAE.replace("rsample()", "sample() if False else mean")])
def test_draws_that_are_meant(text: str, tmp_path: Path) -> None:
    assert "drawn" not in watch(tmp_path, HEAD + text).sites


INNER = """
import torch
from transformers import BertConfig, BertModel
torch.manual_seed(0)
BertModel(BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                     max_position_embeddings=16, pad_token_id=0)).save_pretrained("FOLDER")
class Mine(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = BertModel.from_pretrained("FOLDER")
        self.head = torch.nn.Linear(32, 2)
    def forward(self, ids):
        return self.head(self.body(input_ids=ids).last_hidden_state[:, 0])
model = Mine()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(8):
    ids = torch.randint(1, 60, (8, 12))
    ids[:4, 8:] = 0
    loss = torch.nn.functional.cross_entropy(model(ids), (ids[:, 1] > 30).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_encoder_inside_gets_no_mask(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    text = INNER.replace("FOLDER", str(tmp_path / "body"))
    found = first(watch(tmp_path, text))
    assert found is not None
    assert found[0] == "B102"
    assert "BertModel inside" in found[1].message
    assert found[1].site is not None
    assert "self.body(input_ids=ids)" in found[1].site.source
    masked = text.replace("input_ids=ids)", "input_ids=ids, attention_mask=(ids != 0).long())")
    for healthy in (masked, text.replace("ids[:4, 8:] = 0", "")):
        seen = watch(tmp_path, healthy)
        assert seen.unmasked is None or not seen.unmasked.padded


WARM = """
from transformers import get_linear_schedule_with_warmup
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
schedule = get_linear_schedule_with_warmup(optimizer, WARM, 80)
for epoch in range(4):
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
"""


def test_a_warm_up_without_end(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, HEAD + WARM.replace("WARM", "5000"))
    assert seen.optimizer is not None
    assert (seen.optimizer.planned_steps, seen.optimizer.planned_peak) == (80, pytest.approx(79 / 5000))
    found = first(seen)
    assert found is not None
    assert (found[0], "longer than the whole training" in found[1].message) == ("S402", True)
    assert found[1].site is not None
    assert found[1].site.source.startswith("schedule = ")
    learns = HEAD + WARM.replace("WARM", "160").replace("lr=1e-3", "lr=0.5")
    assert "never gets beyond 0.49" in str(first(watch(tmp_path, learns)))
    seen = watch(tmp_path, HEAD + WARM.replace("WARM", "8"))
    assert seen.optimizer is not None
    assert seen.optimizer.planned_peak == 1.0


def test_gradients_asked_for_by_hand_are_training(tmp_path: Path) -> None:
    text = HEAD.replace("optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)", "") + """
weights = list(model.parameters())
for xb, yb in train:
    loss = F.cross_entropy(model(xb), yb)
    with torch.no_grad():
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights)):
            weight -= 0.1 * gradient
"""
    seen = watch(tmp_path, text)
    assert (seen.backward_without_step, seen.reached, len(seen.steps)) == (20, "backward", 0)
    assert len(seen.losses_by_hand) == 20
    reason = unjudged(seen, walk(seen))
    assert reason is not None
    assert "by hand" in reason
    learning = text.replace("for xb, yb in train:", "for xb, yb in list(train) * 6:").replace("0.1 * gradient", "0.5 * gradient")
    seen = watch(tmp_path, learning)
    assert unjudged(seen, walk(seen)) is None
    assert conclude("train.py", seen, walk(seen)).verdict == "clean"
    both = HEAD + """
for xb, yb in train:
    loss = F.cross_entropy(model(xb), yb)
    norms = [gradient.norm() for gradient in torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    seen = watch(tmp_path, both)
    assert (len(seen.steps), {step.backwards for step in seen.steps}) == (20, {1})
    penalty = text.replace("torch.autograd.grad(loss, weights)", "torch.autograd.grad(loss, weights, create_graph=True)")
    assert watch(tmp_path, penalty).backward_without_step == 0


def test_a_metric_that_pairs_every_row_with_every_other(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    text = TRAINER.replace("num_labels=2", 'num_labels=1, problem_type="regression"').replace(
        '(ids[:, 1] > 30).astype(int).tolist()', "(ids[:, 1] / 60.0).tolist()")
    text = text.replace('{"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}', "ANSWER")
    wrong = text.replace("ANSWER", '{"mae": float(np.abs(prediction.predictions - prediction.label_ids).mean())}')
    found = first(watch(tmp_path, wrong))
    assert found is not None
    assert found[0] == "E501"
    assert found[1].site is not None
    assert "def compute_metrics" in found[1].site.source
    assert "mae: " in found[1].evidence[0]
    right = wrong.replace("prediction.predictions - ", "prediction.predictions[:, 0] - ")
    assert "[:, 0] - " in right
    seen = watch(tmp_path, right)
    assert all(call.function is None for call in seen.evaluation.metrics)
    assert "E501" not in [result.code for result in walk(seen) if result.state == "found"]


def test_a_group_of_weights_of_its_own_gets_no_gradient(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    text = INNER.replace("FOLDER", str(tmp_path / "body")).replace("self.body(input_ids=ids)", "self.text(ids)")
    text = text.replace("model = Mine()", """
    def text(self, ids):
        with torch.no_grad():
            return self.body(input_ids=ids, attention_mask=(ids != 0).long())
model = Mine()""").replace("model.parameters()", "GROUPS")
    assert "self.text(ids)" in text
    own = '[{"params": model.body.parameters(), "lr": 1e-4}, {"params": model.head.parameters()}]'
    found = first(watch(tmp_path, text.replace("GROUPS", own)))
    assert found is not None
    assert found[0] == "G302"
    assert first(watch(tmp_path, text.replace("GROUPS", "model.parameters()"))) is None


def test_who_made_a_column(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    seen = watch(tmp_path, """
import functools
from datasets import Dataset
def prepare(rows, width):
    return {"labels": [0 for _ in rows["text"]], "text": [text[:width] for text in rows["text"]], "same": rows["same"]}
data = Dataset.from_dict({"text": ["abc", "bcd"], "same": [1, 2]})
data = data.map(functools.partial(prepare, width=2), batched=True).map(lambda row: {"more": 1})
""")
    assert {name: place.line for name, place in seen.made.items()} == {"labels": 4, "text": 4, "more": 7}


TWO_LOADERS = """
inputs = DataLoader(X[:320], batch_size=16, shuffle=True{seeded})
targets = DataLoader(y[:320], batch_size=16, shuffle=True{seeded})
for epoch in range(2):
    for xb, yb in zip(inputs, targets):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""


def test_inputs_and_targets_of_two_shuffles_are_seen(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + TWO_LOADERS.format(seeded=""))
    found = first(seen)
    assert found is not None
    assert found[0] == "D106"
    assert found[1].site is not None
    assert "targets = DataLoader" in found[1].site.source
    assert seen.apart is not None
    assert (seen.apart.same, seen.apart.steps) == (0, 8)


def test_two_loaders_in_one_order_are_a_pair(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + TWO_LOADERS.format(seeded=", generator=torch.Generator().manual_seed(1)"))
    assert seen.apart is not None
    assert seen.apart.same == seen.apart.steps == 8
    assert first(seen) is None


def test_one_loader_is_not_asked(tmp_path: Path) -> None:
    assert watch(tmp_path, HEAD + TWO_LOADERS.format(seeded="").replace(
        "zip(inputs, targets)", "train")).apart is None


AUTOENCODER = """
encoder, decoder = nn.Linear(10, 6), nn.Linear(3, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-2)
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
    def forward(self, x):
        mean, log_var = self.encoder(x).chunk(2, dim=1)
        return self.decoder(mean + torch.randn_like(mean) * (0.5 * log_var).exp()), mean, log_var
vae = VAE()
for epoch in range(3):
    for xb, _ in train:
        output, mean, log_var = vae(xb)
        kl = -0.5 * (1 + log_var - mean ** 2 - log_var.exp())
        loss = {loss}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("loss", "weight"), [
    ("F.mse_loss(output, xb) + kl.sum()", 160.0), ("F.mse_loss(output, xb, reduction='sum') + kl.sum()", 1.0),
    ("F.mse_loss(output, xb) + kl.sum(1).mean()", 10.0), ("(F.mse_loss(output, xb, reduction='sum') + kl.sum()) / len(xb)", 1.0),
    ("F.mse_loss(output, xb) + 1e-3 * kl.mean()", 0.0033)])
def test_how_much_a_latent_number_weighs(tmp_path: Path, loss: str, weight: float) -> None:
    seen = watch(tmp_path, HEAD + AUTOENCODER.replace("{loss}", loss))
    assert [found.weight for found in seen.divergence] == pytest.approx([weight] * len(seen.divergence), rel=0.02)
    assert len(seen.divergence) > 3
    found = first(seen)
    assert (found is not None and found[0] == "L207") is (weight == 160.0)


RECOMPUTED = """
from torch.utils.checkpoint import checkpoint
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(10, 32), nn.Linear(32, 32), nn.Linear(32, 2)
        self.first.requires_grad_(False)
    def forward(self, x):
        h = torch.relu(self.first(x))
        h = checkpoint(self.second, h, use_reentrant=WHICH)
        return self.head(torch.relu(h))
model = Deep()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_blocks_that_are_recomputed_without_a_gradient(tmp_path: Path) -> None:
    found = first(watch(tmp_path, HEAD + RECOMPUTED.replace("WHICH", "True")))
    assert found is not None
    assert found[0] == "G302"
    assert "2 of 4 weights" in found[1].message
    assert found[1].site is not None
    assert found[1].site.source.startswith("h = checkpoint(")
    assert "use_reentrant" in found[1].remedy
    assert first(watch(tmp_path, HEAD + RECOMPUTED.replace("WHICH", "False"))) is None


KEPT = """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(10))
        self.out = nn.Linear(10, 2)
        self.scale = torch.exp(self.log_scale)
    def forward(self, x):
        return self.out(x * self.scale)
model = Scaled()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for xb, yb in train:
    loss = F.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_tensor_made_of_weights_once(tmp_path: Path) -> None:
    found = first(watch(tmp_path, HEAD + KEPT))
    assert found is not None
    assert found[0] == "G308"
    assert found[1].site is not None
    assert found[1].site.source == "self.scale = torch.exp(self.log_scale)"
    assert "in forward()" in found[1].remedy


SPARSE = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
near = (torch.eye(60) + torch.eye(60).roll(1, 0)) / 2
x, y = torch.randn(60, 8), torch.randint(0, 3, (60,))
class Conv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.lin = nn.Linear(a, b)
    def forward(self, adj, h):
        return torch.sparse.mm(adj, self.lin(h))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = KEPT[Conv(8, 16), Conv(16, 16)])
        self.head = nn.Linear(16, 3)
    def forward(self, adj, h):
        for conv in self.convs:
            h = torch.relu(conv(adj, h))
        return self.head(h)
model, adj = Net(), near.to_sparse()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    model.train()
    loss = F.cross_entropy(model(adj, x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        model(adj, x)
"""


@pytest.mark.parametrize(("kept", "fault"), [("list(", True), ("nn.ModuleList(", False)])
def test_layers_of_a_graph_in_a_list(tmp_path: Path, kept: str, *, fault: bool) -> None:
    """A sparse matrix has no storage to be told by; a layer made of parts is named where it was built, not where its parts were."""
    seen = watch(tmp_path, SPARSE.replace("KEPT", kept), steps=30)
    assert seen.exception is None
    assert not seen.warnings
    assert (seen.sites["unregistered"].source.startswith("self.convs") if fault else "unregistered" not in seen.sites)


@pytest.mark.parametrize(("made", "source"), [
    ("p = (out.softmax(1) > 0.5).float()\n        loss = (p[:, 1] - yb).abs().mean().requires_grad_(True)", "> 0.5"),
    ("p = (out.softmax(1) > 0.5).float()\n        loss = (p[:, 1] - yb).abs().mean()", "> 0.5"),
    ("p = torch.ones(len(yb))\n        loss = (p - yb).abs().mean().requires_grad_()", "requires_grad_()")],
    ids=["a hard decision, revived", "a hard decision", "revived"])
def test_where_a_loss_has_lost_its_history(tmp_path: Path, made: str, source: str) -> None:
    seen = watch(tmp_path, HEAD + LOOP.replace("loss = F.cross_entropy(out, yb)", made))
    finding = next((result.finding for result in walk(seen) if result.code == "G302"), None)
    assert finding is not None, (first(seen), seen.warnings)
    assert finding.site is not None
    assert source in finding.site.source
