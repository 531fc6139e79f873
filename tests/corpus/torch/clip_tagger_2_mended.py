import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, f1_score
from torch import nn

TAGS = ["bell", "hum", "chirp", "hiss", "click", "whistle"]
BANDS, FRAMES = 32, 40
FREQ_MASK = 4
TIME_MASK = 8
N_MASKS = 2
rng = np.random.default_rng(5)
torch.manual_seed(5)


def paint(tag, spec):
    t = np.arange(FRAMES)
    s = rng.integers(0, 12)
    if tag == "bell":
        spec[22:24, s:] += 2.0 * np.exp(-0.1 * np.arange(FRAMES - s))
    elif tag == "hum":
        spec[3:5, :] += 1.2
    elif tag == "chirp":
        rows = (8 + (t - s) * 0.5).astype(int).clip(0, BANDS - 1)
        spec[rows, t] += 1.8
    elif tag == "hiss":
        spec[26:31, s:s + 20] += 0.8
    elif tag == "click":
        spec[10:20, s + 5] += 1.8
        spec[10:20, s + 15] += 1.8
    else:
        rows = (16 + 3 * np.sin(t / 4 + s)).astype(int)
        spec[rows, t] += 1.8


def record(n):
    specs = rng.normal(0, 0.6, size=(n, BANDS, FRAMES))
    marks = (rng.random((n, len(TAGS))) < 0.35).astype("float32")
    for i in range(n):
        for k in np.flatnonzero(marks[i]):
            paint(TAGS[k], specs[i])
    return specs.astype("float32"), marks


def spec_augment(batch):
    out = batch.copy()
    for clip in out:
        for _ in range(N_MASKS):
            w = rng.integers(FREQ_MASK // 2, FREQ_MASK + 1)
            f0 = rng.integers(0, BANDS - w + 1)
            clip[f0:f0 + w] = 0.0
            v = rng.integers(0, TIME_MASK + 1)
            t0 = rng.integers(0, FRAMES - v + 1)
            clip[:, t0:t0 + v] = 0.0
    return out


def stream(specs, marks, batch_size):
    while True:
        order = rng.permutation(len(specs))
        for i in range(0, len(order) - batch_size + 1, batch_size):
            pick = order[i:i + batch_size]
            yield torch.from_numpy(spec_augment(specs[pick]))[:, None], torch.from_numpy(marks[pick])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 12, 3, padding=1)
        self.c2 = nn.Conv2d(12, 24, 3, padding=1)
        self.n1, self.n2 = nn.BatchNorm2d(12), nn.BatchNorm2d(24)
        self.out = nn.Linear(24 * (BANDS // 4), len(TAGS))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.n1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.n2(self.c2(x))), 2)
        return self.out(x.amax(dim=-1).flatten(1))


train_x, train_y = record(1200)
test_x, test_y = record(500)
net = Tagger()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
batches = stream(train_x, train_y, 48)
recent = []
for step in range(1, 301):
    xb, yb = next(batches)
    loss = F.binary_cross_entropy_with_logits(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append(loss.item())
    if step % 60 == 0:
        print(f"step {step:4d}  train loss {np.mean(recent[-60:]):.3f}")

net.eval()
with torch.no_grad():
    logits = net(torch.from_numpy(test_x)[:, None])
    test_loss = F.binary_cross_entropy_with_logits(logits, torch.from_numpy(test_y)).item()
probs = torch.sigmoid(logits).numpy()
print(f"test loss {test_loss:.3f}")
print(f"mAP {average_precision_score(test_y, probs, average='macro'):.3f}  (tag rate {test_y.mean():.3f})")
print(f"micro F1 {f1_score(test_y, probs > 0.5, average='micro', zero_division=0):.3f}")
