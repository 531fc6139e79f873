# Pretrain a small CNN on digits 0-5, then freeze it and learn a head for digits 6-9 from 120 pictures.
from collections import OrderedDict
import logging

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("glyphs")
torch.manual_seed(8)


def backbone():
    return nn.Sequential(OrderedDict(
        c1=nn.Conv2d(1, 24, 3, padding=1), b1=nn.BatchNorm2d(24), a1=nn.ReLU(), pool=nn.MaxPool2d(2),
        c2=nn.Conv2d(24, 48, 3, padding=1), b2=nn.BatchNorm2d(48), a2=nn.ReLU(), flat=nn.Flatten(),
    ))


class Transfer(nn.Module):
    """A frozen feature extractor with a trainable head.

    train() is overridden so that the extractor's batch norm keeps its pretraining statistics.
    """

    def __init__(self, features, n_classes):
        super().__init__()
        self.features = features.requires_grad_(False)
        self.head = nn.Sequential(nn.Dropout(0.25), nn.Linear(48 * 16, n_classes))

    def train(self, mode=True):
        super().train(mode)
        self.features.eval()
        return self

    def forward(self, x):
        return self.head(self.features(x))


def load_split():
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16, dtype=torch.float32).view(-1, 1, 8, 8)
    y = torch.tensor(y)
    low = y < 6
    xs, ys = x[~low], y[~low] - 6
    tr, te = train_test_split(np.arange(len(xs)), train_size=120, stratify=ys.numpy(), random_state=8)
    return (x[low], y[low]), (xs[tr], ys[tr]), (xs[te], ys[te])


def pretrain(x, y, epochs=8):
    net = backbone()
    head = nn.Linear(48 * 16, 6)
    params = list(net.parameters()) + list(head.parameters())
    opt = torch.optim.SGD(params, lr=0.05, momentum=0.9, nesterov=True)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, drop_last=True)
    for ep in range(epochs):
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(head(net(xb)), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
    log.info("pretraining done, last batch loss %.4f", loss.item())
    return net


def finetune(model, x, y, epochs=40):
    opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=3e-3, weight_decay=1e-2)
    loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
    step = 0
    for ep in range(epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            seen = {}
            # feature norm for the log, read on this step only
            handle = model.features.register_forward_hook(
                lambda m, i, o, seen=seen: seen.update(norm=o.detach().norm(dim=1).mean().item()))
            try:
                logits = model(xb)
            finally:
                handle.remove()
            loss = nn.functional.cross_entropy(logits, yb, label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            total += loss.item() * len(xb)
        if ep % 10 == 9:
            log.info("epoch %d loss %.4f feature norm %.2f hooks left %d", ep + 1, total / len(x), seen["norm"],
                     len(model.features._forward_hooks))


def evaluate(model, x, y):
    model.eval()
    with torch.inference_mode():
        return (model(x).argmax(1) == y).float().mean().item()


(base_x, base_y), (few_x, few_y), (test_x, test_y) = load_split()
model = Transfer(pretrain(base_x, base_y), 4)
before = evaluate(model, test_x, test_y)
stats = model.features.b1.running_mean.clone()
finetune(model, few_x, few_y)
assert torch.equal(stats, model.features.b1.running_mean)
log.info("held-out accuracy on 6-9: before %.3f after %.3f (majority %.3f)", before,
         evaluate(model, test_x, test_y), test_y.bincount().max().item() / len(test_y))
