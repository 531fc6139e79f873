"""Find rare scratches on metal plates: 3% positives, weighted loss, threshold from the validation set."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import average_precision_score, precision_recall_curve

rng = np.random.default_rng(12)
torch.manual_seed(12)


def plate(scratched):
    img = 0.5 * rng.standard_normal((20, 20))
    img += np.linspace(0, rng.normal(0, 1), 20)[:, None]
    if scratched:
        y, x = rng.uniform(5, 15, 2)
        a = rng.uniform(0, np.pi)
        for t in np.linspace(-5, 5, 30):
            yy, xx = int(round(y + t * np.sin(a))), int(round(x + t * np.cos(a)))
            if 0 <= yy < 20 and 0 <= xx < 20:
                img[yy, xx] += 0.5
    return img.astype(np.float32)


def plates(n, share=0.03):
    y = (rng.random(n) < share).astype(np.float32)
    x = np.stack([plate(v) for v in y])[:, None]
    return torch.from_numpy(x), torch.from_numpy(y)


net = nn.Sequential(
    nn.Conv2d(1, 12, 5, padding=2), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(),
    nn.Dropout(0.1), nn.Linear(24, 1))


@torch.no_grad()
def scores(x):
    net.eval()
    return torch.cat([net(b).squeeze(1) for b in x.split(500)]).sigmoid().numpy()


(xtr, ytr), (xva, yva), (xte, yte) = plates(6000), plates(3000), plates(3000)
ratio = (ytr == 0).sum() / (ytr == 1).sum()
loss_fn = nn.BCEWithLogitsLoss(pos_weight=ratio.sqrt())
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
epochs = 12
loader = DataLoader(TensorDataset(xtr, ytr), batch_size=100, shuffle=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=epochs * len(loader))
for epoch in range(epochs):
    net.train()
    total = 0.0
    for x, y in loader:
        loss = loss_fn(net(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item()
    print(f"epoch {epoch + 1:2d} loss {total / len(loader):.4f} "
          f"valid average precision {average_precision_score(yva, scores(xva)):.3f}")

p, r, th = precision_recall_curve(yva, scores(xva))
f1 = 2 * p * r / np.maximum(p + r, 1e-9)
best = th[min(int(f1.argmax()), len(th) - 1)]
hit = scores(xte) >= best
gold = yte.numpy() == 1
print(f"threshold {best:.2f}  test precision {gold[hit].mean():.3f} recall {hit[gold].mean():.3f} "
      f"AP {average_precision_score(gold, scores(xte)):.3f} (base rate {gold.mean():.3f})")
