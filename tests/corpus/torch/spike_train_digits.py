"""Two-layer leaky integrate-and-fire network on rate coded 8x8 digits."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
T_STEPS = 16
THRESH = 1.0


class Spike(torch.autograd.Function):
    """Heaviside step with the fast-sigmoid derivative in the backward pass."""
    slope = 5.0

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1.0 + Spike.slope * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, n_in, n_out, beta=0.85):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.beta_raw = nn.Parameter(torch.full((n_out,), float(np.log(beta / (1 - beta)))))

    def forward(self, x, v):
        v = torch.sigmoid(self.beta_raw) * v + self.fc(x)
        s = Spike.apply(v - THRESH)
        return s, v - s.detach() * THRESH  # soft reset, not differentiated through


class SpikingNet(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.l1 = LIF(64, hidden)
        self.l2 = LIF(hidden, 10)

    def forward(self, spikes):  # (T, B, 64)
        b = spikes.shape[1]
        v1 = spikes.new_zeros(b, self.l1.fc.out_features)
        v2 = spikes.new_zeros(b, 10)
        counts, active = 0.0, 0.0
        for x in spikes:
            s1, v1 = self.l1(x, v1)
            s2, v2 = self.l2(s1, v2)
            counts = counts + s2
            active = active + s1.mean()
        return counts, active / len(spikes)


def rate_code(x, gen=None):
    """Bernoulli spikes whose probability is the pixel brightness."""
    return (torch.rand((T_STEPS, *x.shape), generator=gen) < x).float()


digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
Y = torch.tensor(digits.target)
order = torch.randperm(len(X))
train_idx, test_idx = order[:1297], order[1297:]

net = SpikingNet()
optim = torch.optim.Adamax(net.parameters(), lr=5e-3)
for epoch in range(1, 26):
    net.train()
    total = rate = n = 0
    for idx in train_idx[torch.randperm(len(train_idx))].split(64):
        counts, act = net(rate_code(X[idx]))
        # spike counts serve as logits; the second term pulls the firing rate towards 15 %
        loss = F.cross_entropy(counts, Y[idx]) + 5.0 * (act - 0.15) ** 2
        optim.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optim.step()
        total += loss.item() * len(idx)
        rate += act.item() * len(idx)
        n += len(idx)
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  loss {total / n:.4f}  hidden firing rate {rate / n:.3f}")

net.eval()
g = torch.Generator().manual_seed(123)
with torch.no_grad():
    counts, _ = net(rate_code(X[test_idx], g))
acc = (counts.argmax(1) == Y[test_idx]).float().mean().item()
print(f"test accuracy {acc:.4f} (most common class {Y[test_idx].bincount().max().item() / len(test_idx):.4f})")
