"""Mixture density network: the elbow angle of a planar arm is ambiguous, so predict a mixture."""
import math

import torch
from torch import nn

torch.manual_seed(6)


def sample(n):
    # y has two valid answers for every x
    x = torch.rand(n, 1) * 2 - 1
    sign = torch.where(torch.rand(n, 1) < 0.5, -1.0, 1.0)
    y = sign * (0.3 + 0.2 * torch.cos(3 * x)) + 0.01 * torch.randn(n, 1)
    return x, y


class MDN(nn.Module):
    def __init__(self, k=4, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi, self.mu, self.log_s = (nn.Linear(hidden, k) for _ in range(3))

    def forward(self, x):
        h = self.trunk(x)
        return torch.log_softmax(self.pi(h), -1), self.mu(h), self.log_s(h).clamp(-6, 2)


def nll(log_pi, mu, log_s, y):
    log_n = -0.5 * ((y - mu) / log_s.exp()) ** 2 - log_s - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_pi + log_n, dim=-1).mean()


net = MDN()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
x_train, y_train = sample(3000)
x_test, y_test = sample(1000)

for epoch in range(1, 31):
    for idx in torch.randperm(len(x_train)).split(100):
        loss = nll(*net(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            held_out = nll(*net(x_test), y_test).item()
        print(f"epoch {epoch:2d}  train {loss.item():+.3f}  held out {held_out:+.3f}")

with torch.no_grad():
    log_pi, mu, _ = net(x_test)
    pick = torch.distributions.Categorical(logits=log_pi).sample().unsqueeze(1)
    answer = mu.gather(1, pick)
    miss = (answer.abs() - (0.3 + 0.2 * torch.cos(3 * x_test))).abs().mean().item()
entropy_floor = math.log(2) + 0.5 * math.log(2 * math.pi * math.e * 0.01**2)
print(f"mean distance to a valid branch {miss:.4f}; lowest reachable nll {entropy_floor:+.3f}")
