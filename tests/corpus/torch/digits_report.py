"""CNN on the 8x8 digits with a per-digit table at the end."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
labels = torch.tensor(digits.target)
tr_idx, te_idx = train_test_split(range(len(labels)), test_size=0.25, stratify=digits.target, random_state=8)
train_loader = DataLoader(TensorDataset(images[tr_idx], labels[tr_idx]), batch_size=64, shuffle=True)
test_images, test_labels = images[te_idx], labels[te_idx]


def block(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(block(1, 16), nn.MaxPool2d(2), block(16, 32), block(32, 32))
        self.head = nn.Sequential(
            nn.Linear(32 * 4 * 4, 64, bias=False),
            nn.BatchNorm1d(64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def fit(net, epochs=8):
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    net.train()
    for epoch in range(epochs):
        seen = loss_sum = 0
        for x, y in train_loader:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(y)
            seen += len(y)
        print(f"epoch {epoch + 1}: loss {loss_sum / seen:.4f}")


@torch.no_grad()
def per_digit_table(net, x, y):
    hits = 0
    for digit in range(10):
        chosen = x[y == digit]
        good = (net(chosen).argmax(1) == digit).sum().item()
        hits += good
        print(f"  digit {digit}: {good:3d} of {len(chosen):3d}  ({good / len(chosen):.1%})")
    print(f"overall accuracy: {hits / len(y):.3f}")


net = DigitNet()
fit(net)
per_digit_table(net, test_images, test_labels)
