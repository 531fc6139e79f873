import numpy as np
import torch
from torch import nn

torch.manual_seed(8)
np.random.seed(8)
NAMES = ["plain", "crack", "spot", "scratch", "grid"]
SIZE = 20


def draw(kind):
    img = np.random.randn(SIZE, SIZE) * 0.35 + np.random.uniform(-0.3, 0.3)
    if kind == "crack":
        c = np.random.randint(4, SIZE - 4)
        for r in range(SIZE):
            c = int(np.clip(c + np.random.randint(-1, 2), 0, SIZE - 1))
            img[r, c] += 1.6
    elif kind == "spot":
        cy, cx = np.random.randint(5, SIZE - 5, 2)
        yy, xx = np.mgrid[:SIZE, :SIZE]
        img += 1.6 * ((yy - cy) ** 2 + (xx - cx) ** 2 < 12)
    elif kind == "scratch":
        r0 = np.random.randint(2, SIZE - 2)
        img[r0:r0 + 1, 3:17] -= 1.6
    elif kind == "grid":
        step = np.random.randint(4, 6)
        img[::step] += 0.8
        img[:, ::step] += 0.8
    return img


def make_set(per_class):
    xs, ys = [], []
    for k, name in enumerate(NAMES):
        for _ in range(per_class):
            xs.append(draw(name))
            ys.append(k)
    return torch.tensor(np.array(xs), dtype=torch.float32).unsqueeze(1), torch.tensor(ys)


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2))


class TileNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(block(1, 12), block(12, 24), block(24, 32))
        self.classify = nn.Linear(32, classes)

    def forward(self, x):
        return self.classify(self.features(x).mean(dim=(2, 3)))


def batches(x, y, size):
    order = torch.randperm(len(y))
    for i in range(0, len(y), size):
        pick = order[i:i + size]
        yield x[pick], y[pick]


def fit(model, x, y, epochs=12):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in batches(x, y, 40):
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(yb)
        schedule.step()
        print(f"epoch {epoch + 1:2d} train loss {total / len(y):.4f}")


@torch.no_grad()
def per_class_report(model, x, y):
    model.eval()
    recalls = {}
    for k, name in enumerate(NAMES):
        chosen = x[y == k]
        predicted = model(chosen).argmax(1)
        recalls[name] = (predicted == k).float().mean().item()
    return recalls


if __name__ == "__main__":
    x_train, y_train = make_set(240)
    x_test, y_test = make_set(80)
    net = TileNet(len(NAMES))
    fit(net, x_train, y_train)
    report = per_class_report(net, x_test, y_test)
    for name, value in report.items():
        print(f"  {name:8s} recall {value:.3f}")
    print(f"mean recall {sum(report.values()) / len(report):.3f} (chance {1 / len(NAMES):.2f})")
