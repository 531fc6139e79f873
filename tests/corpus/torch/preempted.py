import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
np.random.seed(11)
device = "cuda" if torch.cuda.is_available() else "cpu"


class MultiTaskNet(nn.Module):
    """shared trunk, one head for the digit, one for the amount of ink, one for odd/even"""

    def __init__(self, width=128, n_digits=10):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({
            "digit": nn.Linear(width, n_digits),
            "ink": nn.Linear(width, 1),
            "odd": nn.Linear(width, 1),
        })

    def forward(self, x):
        h = self.trunk(x)
        return {k: head(h) for k, head in self.heads.items()}


class Trainer:
    def __init__(self, cfg, lr=0.02):
        self.cfg = cfg
        self.model = MultiTaskNet(**cfg).to(device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.epoch = 0

    def loss(self, out, digit, ink):
        l_digit = F.cross_entropy(out["digit"], digit)
        l_ink = F.mse_loss(out["ink"].squeeze(1), ink)
        l_odd = F.binary_cross_entropy_with_logits(out["odd"].squeeze(1), (digit % 2).float())
        return l_digit + 0.5 * l_ink + l_odd

    def save(self, path):
        torch.save({"cfg": self.cfg, "model": self.model.state_dict(),
                    "opt": self.opt.state_dict(), "epoch": self.epoch}, path)

    def resume(self, path):
        ckpt = torch.load(path, map_location=device)
        self.cfg = ckpt["cfg"]
        self.model = MultiTaskNet(**ckpt["cfg"]).to(device)
        self.model.load_state_dict(ckpt["model"])
        self.opt.load_state_dict(ckpt["opt"])
        self.epoch = ckpt["epoch"]
        print(f"resumed from epoch {self.epoch}")

    def fit(self, loader, val, until):
        while self.epoch < until:
            self.model.train()
            tot = 0.0
            for x, digit, ink in loader:
                x, digit, ink = x.to(device), digit.to(device), ink.to(device)
                self.opt.zero_grad()
                loss = self.loss(self.model(x), digit, ink)
                loss.backward()
                self.opt.step()
                tot += loss.item() * len(x)
            self.epoch += 1
            print(f"epoch {self.epoch:2d} train {tot / len(loader.dataset):.4f}", self.evaluate(val))

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        n = ok = odd = 0
        for x, digit, _ in loader:
            out = self.model(x.to(device))
            ok += (out["digit"].argmax(1).cpu() == digit).sum().item()
            odd += ((out["odd"].squeeze(1).cpu() > 0) == (digit % 2 == 1)).sum().item()
            n += len(x)
        return {"digit_acc": round(ok / n, 4), "odd_acc": round(odd / n, 4)}


raw = load_digits()
X = (raw.data / 16.0).astype(np.float32)
ink = X.sum(1)
ink = (ink - ink.mean()) / ink.std()
parts = train_test_split(X, raw.target, ink.astype(np.float32), test_size=0.25, random_state=0)
train = TensorDataset(*(torch.from_numpy(p) for p in parts[0::2]))
test = TensorDataset(*(torch.from_numpy(p) for p in parts[1::2]))
train_dl = DataLoader(train, batch_size=64, shuffle=True)
test_dl = DataLoader(test, batch_size=256)

ckpt_path = os.path.join(tempfile.mkdtemp(), "last.pt")
cfg = {"width": 128}

first = Trainer(cfg)
first.fit(train_dl, test_dl, until=1)
first.save(ckpt_path)

# the job was pre-empted here; the second job goes on
second = Trainer(cfg)
second.resume(ckpt_path)
second.fit(train_dl, test_dl, until=25)
print("final", second.evaluate(test_dl))
