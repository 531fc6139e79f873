# classify sensor recordings (3 channels, 24 steps) with a GRU
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(8)
np.random.seed(8)

CLASSES = ["walk", "run", "stairs", "sit", "bike"]
T = 24


def record(label, n):
    t = np.arange(T)[None, :, None]
    freq = [0.25, 0.55, 0.4, 0.05, 0.8][label]
    amp = np.array([[1.0, .4, .2], [1.5, 1., .3], [.8, .8, .8], [.1, .1, .1], [.3, 1.2, 1.]][label])
    phase = np.random.rand(n, 1, 3) * 2 * np.pi
    sig = amp[None, None] * np.sin(2 * np.pi * freq * t / 2 + phase)
    return sig + 0.3 * np.random.randn(n, T, 3)


X = np.concatenate([record(c, 400) for c in range(5)])
y = np.repeat(np.arange(5), 400)
p = np.random.permutation(len(X))
X, y = X[p], y[p]
X = (X - X.mean((0, 1))) / X.std((0, 1))
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y)
X_train, y_train = X[:1600], y[:1600]
X_test, y_test = X[1600:], y[1600:]


class ActivityGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(3, hidden, num_layers=2)
        self.norm = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(T * hidden, len(CLASSES))

    def forward(self, x):
        bs = x.size(0)
        seq = x.permute(1, 0, 2)
        h, _ = self.gru(seq)
        h = self.drop(self.norm(h))
        h = h.reshape(bs, -1)
        return self.out(h)


def batches(X, y, size, shuffle):
    idx = torch.randperm(len(X)) if shuffle else torch.arange(len(X))
    for k in range(0, len(X), size):
        j = idx[k:k + size]
        yield X[j], y[j]


net = ActivityGRU()
print(net)
print("parameters:", sum(q.numel() for q in net.parameters()))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(1, 11):
    net.train()
    losses = []
    hits = 0
    for xb, yb in batches(X_train, y_train, 40, True):
        optimizer.zero_grad()
        logits = net(xb)
        loss = criterion(logits, yb)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        hits += (logits.argmax(1) == yb).sum().item()
    net.eval()
    with torch.no_grad():
        test_hits = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in batches(X_test, y_test, 40, False))
    print("epoch {:2d} | loss {:.3f} | train acc {:.3f} | test acc {:.3f}".format(
        epoch, np.mean(losses), hits / len(X_train), test_hits / len(X_test)))

conf = torch.zeros(5, 5, dtype=torch.long)
with torch.no_grad():
    for xb, yb in batches(X_test, y_test, 40, False):
        for a, b in zip(yb, net(xb).argmax(1)):
            conf[a, b] += 1
print(conf)
