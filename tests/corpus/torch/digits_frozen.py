import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

torch.manual_seed(1)


class RandomLens(nn.Module):
    def __init__(self, features=256):
        super().__init__()
        self.conv = nn.Conv2d(1, features, 5, padding=2)
        nn.init.normal_(self.conv.weight, std=0.4)
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        return F.adaptive_max_pool2d(torch.cos(self.conv(x)), 2).flatten(1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lens = RandomLens()
        self.norm = nn.BatchNorm1d(1024, affine=False)
        self.head = nn.Linear(1024, 10)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        return self.head(self.norm(self.lens(x)))


def fit(x, y, cfg):
    model = Reader()
    opt = torch.optim.SGD(model.head.parameters(), lr=cfg["lr"], momentum=0.9)
    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(cfg["batch"]):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
            opt.zero_grad()
            total += loss.item() * len(idx)
    print(f"  last train loss {total / len(x):.4f}")
    return model


def score(model, x, y):
    model.eval()
    with torch.inference_mode():
        return (model(x).argmax(1) == y).float().mean().item()


cfg = {"lr": 5e-3, "epochs": 8, "batch": 64, "folds": 3}
data = load_digits()
images = torch.tensor(data.images / 8.0 - 1.0, dtype=torch.float32).unsqueeze(1)
digits = torch.tensor(data.target)
folds = StratifiedKFold(cfg["folds"], shuffle=True, random_state=0)
results = []
for k, (a, b) in enumerate(folds.split(data.data, data.target)):
    a, b = torch.from_numpy(a), torch.from_numpy(b)
    model = fit(images[a], digits[a], cfg)
    results.append(score(model, images[b], digits[b]))
    print(f"fold {k} accuracy {results[-1]:.3f}")
print(f"mean accuracy {sum(results) / len(results):.3f}")
