"""Time to failure of field pumps, many still running at the end of the study: Cox network scored by concordance."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn


@dataclass
class Cohort:
    x: Tensor
    time: Tensor
    failed: Tensor

    def __len__(self):
        return len(self.time)

    def take(self, idx):
        return Cohort(self.x[idx], self.time[idx], self.failed[idx])


def study(n, seed):
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, 12))
    risk = 0.9 * np.tanh(x[:, 0] * x[:, 1]) + 0.8 * np.abs(x[:, 2]) + 0.6 * x[:, 3] - 0.5 * (x[:, 4] > 0.5)
    life = (g.exponential(1.0, n) * np.exp(-1.3 * risk)) ** (1 / 1.5) * 40
    leaves = g.uniform(2, 45, n)                                # end of observation
    time = np.minimum(life, leaves)
    return Cohort(torch.tensor(x, dtype=torch.float32), torch.tensor(time, dtype=torch.float32), torch.tensor(life <= leaves))


def cox_loss(risk, time, failed):
    """Negative partial log-likelihood; each failure is compared with all that were still at risk then."""
    order = torch.argsort(time, descending=True)
    risk, failed = risk[order], failed[order]
    at_risk = torch.logcumsumexp(risk, dim=0)
    return -((risk - at_risk) * failed).sum() / failed.sum().clamp(min=1)


def concordance(risk, time, failed):
    earlier = (time[:, None] < time[None, :]) & failed[:, None]
    higher = (risk[:, None] > risk[None, :]).float() + 0.5 * (risk[:, None] == risk[None, :]).float()
    return (higher[earlier].sum() / earlier.sum()).item()


class MaxoutLayer(nn.Module):
    def __init__(self, a, b, pieces=2):
        super().__init__()
        self.lin = nn.Linear(a, b * pieces)
        self.pieces = pieces

    def forward(self, x):
        return self.lin(x).unflatten(-1, (-1, self.pieces)).amax(-1)


def risk_net(d):
    # no bias at the end: a constant cancels in the partial likelihood
    return nn.Sequential(MaxoutLayer(d, 32), nn.LayerNorm(32), nn.Dropout(0.2), MaxoutLayer(32, 16), nn.Dropout(0.1), nn.Linear(16, 1, bias=False))


def averaged(avg, new, n):
    """Equal weight for the first ten updates, then a slow running mean."""
    w = 1 / (n + 1) if n < 10 else 0.02
    return avg + w * (new - avg)


def main():
    torch.manual_seed(23)
    train, valid, test = study(3000, 0), study(600, 1), study(1200, 2)
    print(f"{train.failed.float().mean():.0%} of the training pumps failed under observation")
    net = risk_net(12)
    smooth = torch.optim.swa_utils.AveragedModel(net, avg_fn=averaged)
    opt = torch.optim.NAdam(net.parameters(), lr=3e-3, weight_decay=1e-4)
    best, kept = 0.0, None
    for epoch in range(1, 31):
        net.train()
        losses = []
        for idx in torch.randperm(len(train)).split(250):
            part = train.take(idx)
            loss = cox_loss(net(part.x).squeeze(1), part.time, part.failed)
            opt.zero_grad()
            loss.backward()
            opt.step()
            smooth.update_parameters(net)
            losses.append(loss.item())
        smooth.eval()
        with torch.no_grad():
            c = concordance(smooth(valid.x).squeeze(1), valid.time, valid.failed)
        if c > best:
            best, kept = c, {k: v.clone() for k, v in smooth.state_dict().items()}
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  partial nll {np.mean(losses):.4f}  valid concordance {c:.3f}")

    smooth.load_state_dict(kept)
    smooth.eval()
    with torch.no_grad():
        c = concordance(smooth(test.x).squeeze(1), test.time, test.failed)
    single = max(concordance(s * test.x[:, j], test.time, test.failed) for j in range(12) for s in (1, -1))
    print(f"test concordance {c:.3f}   best single reading {single:.3f}   coin 0.500")


if __name__ == "__main__":
    main()
