"""Sort photographs of floor tiles by their pattern."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)
rng = np.random.default_rng(11)
PATTERNS = ["rows", "columns", "rising", "falling", "checker", "dots"]
S = 32


def photo(kind):
    fg, bg = rng.integers(100, 240, 3), rng.integers(20, 160, 3)
    yy, xx = np.mgrid[:S, :S] + rng.integers(0, 8)
    w = rng.integers(3, 6)
    mask = {
        "rows": (yy // w) % 2, "columns": (xx // w) % 2, "rising": ((xx + yy) // w) % 2,
        "falling": ((xx - yy) // w) % 2,
        "checker": ((xx // w) + (yy // w)) % 2,
        "dots": ((xx % (2 * w) - w) ** 2 + (yy % (2 * w) - w) ** 2 < (0.6 * w) ** 2),
    }[kind][..., None]
    img = mask * fg + (1 - mask) * bg + rng.normal(0, 75, (S, S, 3))
    return np.clip(img, 0, 255).astype(np.uint8)


labels = rng.integers(0, len(PATTERNS), 1200)
photos = np.stack([photo(PATTERNS[k]) for k in labels])     # as PIL gives them: N, H, W, C

x = torch.from_numpy(photos).float().div(255).reshape(-1, 3, S, S)
x = (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), keepdim=True)
y = torch.from_numpy(labels)
x_train, y_train, x_test, y_test = x[:900], y[:900], x[900:], y[900:]

net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(32, len(PATTERNS)),
)
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)

for epoch in range(8):
    net.train()
    order = torch.randperm(len(x_train))
    losses = []
    for idx in order.split(50):
        loss = F.cross_entropy(net(x_train[idx]), y_train[idx])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    with torch.inference_mode():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.3f}  test acc {acc:.3f}")
