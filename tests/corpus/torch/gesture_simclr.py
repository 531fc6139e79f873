"""Self-supervised embeddings for pen strokes (x, y over time), judged by nearest-neighbour accuracy."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.neighbors import KNeighborsClassifier

STEPS = 40
N_SHAPES = 8


def strokes(n, rng):
    t = np.linspace(0, 1, STEPS)
    tau = 2 * np.pi * t
    shapes = [
        (np.cos(tau), np.sin(tau)),
        (t * 2 - 1, np.sin(tau)),
        (t * 2 - 1, np.abs(t * 4 - 2) - 1),
        (np.sin(tau), np.sin(2 * tau)),
        (t * np.cos(2 * tau), t * np.sin(2 * tau)),
        (t * 2 - 1, np.sign(np.sin(2 * tau)) * 0.7),
        (np.cos(tau), np.sin(tau) * (t < 0.5)),
        (t * 2 - 1, np.sin(2 * tau) * (1 - t)),
    ]
    y = rng.integers(0, N_SHAPES, n)
    x = np.stack([np.stack(shapes[k]) for k in y])
    x = np.stack([augment_np(s, rng, rot=0.5) for s in x])
    return torch.tensor(x, dtype=torch.float32), y


def augment_np(s, rng, rot):
    a = rng.normal(0, rot)
    r = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    s = r @ (s * rng.uniform(0.6, 1.4))
    s = np.roll(s, rng.integers(-4, 5), axis=1) + rng.normal(0, 0.4, (2, 1))
    return s + rng.normal(0, 0.12, s.shape)


def augment(x):
    """Random view: rotation, size, offset, jitter and a blanked-out run of points."""
    b = len(x)
    a = torch.randn(b) * 0.6
    rot = torch.stack([torch.stack([a.cos(), -a.sin()], 1), torch.stack([a.sin(), a.cos()], 1)], 1)
    v = rot @ x * torch.empty(b, 1, 1).uniform_(0.6, 1.5)
    v = v + 0.4 * torch.randn(b, 2, 1) + 0.1 * torch.randn_like(v)
    start = torch.randint(0, STEPS - 6, (b, 1))
    pos = torch.arange(STEPS)
    hole = (pos >= start) & (pos < start + 6)
    return v.masked_fill(hole.unsqueeze(1), 0.0)


class StrokeNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv1d(2, 32, 5, padding=2), nn.ReLU(),
            nn.Conv1d(32, 48, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv1d(48, 64, 5, stride=2, padding=2), nn.ReLU(),
            nn.Flatten(), nn.Linear(64 * 10, dim),
        )

    def forward(self, x):
        return F.normalize(self.backbone(x), dim=1)


def view_contrast(views, temperature=0.1):
    """Probability that a soft neighbour of a view is another view of the same stroke."""
    n = len(views[0])
    z = torch.cat(views)
    ids = torch.arange(n).repeat(len(views))
    same = ids.unsqueeze(0) == ids.unsqueeze(1)
    sim = z @ z.t() / temperature
    mates = torch.logsumexp(sim.masked_fill(~same, -1e9), dim=1)
    return (torch.logsumexp(sim, dim=1) - mates).mean()


@torch.no_grad()
def knn_accuracy(embed, bank_x, bank_y, x, y):
    knn = KNeighborsClassifier(n_neighbors=5).fit(embed(bank_x).flatten(1).numpy(), bank_y)
    return knn.score(embed(x).flatten(1).numpy(), y)


def main(epochs=10, batch=128, lr=1e-3):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x_train, _ = strokes(3000, rng)
    x_bank, y_bank = strokes(200, rng)
    x_test, y_test = strokes(800, rng)

    net = StrokeNet()
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-5)
    print(f"raw coordinates: knn accuracy {knn_accuracy(lambda v: v, x_bank, y_bank, x_test, y_test):.3f}")
    print(f"untrained net:   knn accuracy {knn_accuracy(net, x_bank, y_bank, x_test, y_test):.3f}")
    for epoch in range(epochs):
        total, count = 0.0, 0
        for idx in torch.randperm(len(x_train)).split(batch):
            if len(idx) < batch:
                continue
            xb = x_train[idx]
            loss = view_contrast([net(augment(xb)) for _ in range(2)])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, count = total + loss.item(), count + 1
        acc = knn_accuracy(net, x_bank, y_bank, x_test, y_test)
        print(f"epoch {epoch + 1:2d}  contrastive loss {total / count:.4f}  knn accuracy {acc:.3f}")
    print(f"held-out knn accuracy {knn_accuracy(net, x_bank, y_bank, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
