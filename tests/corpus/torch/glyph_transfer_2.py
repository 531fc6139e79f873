import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from dataclasses import dataclass

torch.manual_seed(11)


@dataclass
class Settings:
    pretrain_epochs: int = 12
    tune_epochs: int = 25
    lr: float = 2e-3
    tune_lr: float = 1e-2
    batch: int = 64


class GlyphNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU())
        self.head = nn.Linear(64, n_out)

    def forward(self, x):
        return self.head(self.body(x))


def run_epochs(model, loader, opt, n, tag):
    for epoch in range(n):
        model.train()
        total, seen = 0.0, 0
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
            seen += len(xb)
        if epoch % 4 == 0 or epoch == n - 1:
            print(f"[{tag}] epoch {epoch} loss {total / seen:.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    cfg = Settings()
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    labels = torch.tensor(labels)

    source = labels < 6
    xs, ys = images[source], labels[source]
    xt, yt = images[~source], labels[~source] - 6
    idx_tr, idx_te = train_test_split(range(len(yt)), test_size=0.3, stratify=yt, random_state=0)

    model = GlyphNet(6)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    run_epochs(model, DataLoader(TensorDataset(xs, ys), cfg.batch, shuffle=True), opt,
               cfg.pretrain_epochs, "source")
    print(f"source accuracy {accuracy(model, xs, ys):.3f}")

    for p in model.body.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(model.head.parameters(), lr=cfg.tune_lr)
    model.head = nn.Linear(64, 4)

    target_loader = DataLoader(TensorDataset(xt[idx_tr], yt[idx_tr]), cfg.batch, shuffle=True)
    run_epochs(model, target_loader, opt, cfg.tune_epochs, "target")
    print(f"target test accuracy {accuracy(model, xt[idx_te], yt[idx_te]):.3f}")


if __name__ == "__main__":
    main()
