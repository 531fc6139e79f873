import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(3)

digits = load_digits()
imgs = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
lbls = torch.tensor(digits.target)

source = lbls < 6
x_src, y_src = imgs[source], lbls[source]
x_tgt, y_tgt = imgs[~source], lbls[~source] - 6
idx_tr, idx_te = train_test_split(
    torch.arange(len(y_tgt)).numpy(), test_size=0.3, random_state=0, stratify=y_tgt.numpy())


class SmallCNN(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.head = nn.Linear(48 * 4, n_out)

    def forward(self, x):
        return self.head(self.features(x))


def batches(x, y, size=64):
    order = torch.randperm(len(y))
    for i in range(0, len(y), size):
        j = order[i:i + size]
        yield x[j], y[j]


def fit(model, optimizer, x, y, epochs, tag):
    for ep in range(epochs):
        model.train()
        if tag == "finetune":
            model.features.eval()
        running, n = 0.0, 0
        for xb, yb in batches(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(yb)
            n += len(yb)
        print(f"[{tag}] epoch {ep} loss {running / n:.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


# stage 1: digits 0-5
model = SmallCNN(n_out=6)
fit(model, torch.optim.Adam(model.parameters(), lr=2e-3), x_src, y_src, 6, "pretrain")
print("source accuracy", round(accuracy(model, x_src, y_src), 4))

# stage 2: keep the features, learn a head for digits 6-9
for p in model.features.parameters():
    p.requires_grad_(False)
model.head = nn.Linear(48 * 4, 4)
optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)

fit(model, optimizer, x_tgt[idx_tr], y_tgt[idx_tr], 12, "finetune")
print("target train accuracy", round(accuracy(model, x_tgt[idx_tr], y_tgt[idx_tr]), 4))
print("target test accuracy ", round(accuracy(model, x_tgt[idx_te], y_tgt[idx_te]), 4))
