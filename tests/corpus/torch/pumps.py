# vibration of 900 pumps, 64 samples each, 2 accelerometers -> kind of wear (0, 1, 2)
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(3)
N_PUMPS, N_STEPS, N_CH, K = 900, 64, 2, 3

kind = rng.integers(0, K, N_PUMPS)
freq = np.array([0.05, 0.11, 0.19])[kind] * rng.uniform(0.9, 1.1, N_PUMPS)
phase = rng.uniform(0, 2 * np.pi, (N_PUMPS, N_CH))
amp = rng.uniform(0.7, 1.3, (N_PUMPS, N_CH))

# simulated recording
snapshots = []
for t in range(N_STEPS):
    s = amp * np.sin(2 * np.pi * freq[:, None] * t + phase)
    snapshots.append(s + 0.3 * rng.normal(size=s.shape))
log = np.stack(snapshots).astype(np.float32)
print("log:", log.shape)

x = torch.from_numpy(log).view(N_PUMPS, N_STEPS, N_CH)
y = torch.from_numpy(kind)
print("x:", tuple(x.shape), "y:", tuple(y.shape))

cut = 700
x_tr, y_tr, x_va, y_va = x[:cut], y[:cut], x[cut:], y[cut:]


class WearNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(N_CH, hidden, batch_first=True)
        self.head = nn.Linear(hidden, K)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out.mean(dim=1))


torch.manual_seed(0)
net = WearNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
ce = nn.CrossEntropyLoss()

for ep in range(1, 26):
    net.train()
    order = torch.randperm(cut)
    total = 0.0
    for idx in order.split(50):
        loss = ce(net(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        acc = (net(x_va).argmax(1) == y_va).float().mean().item()
    if ep % 5 == 0:
        print(f"[{ep:02d}] train loss {total / cut:.3f}  val acc {acc:.3f}")
