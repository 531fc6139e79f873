"""Discrete-time survival model of customer churn (monthly bins, right censoring)."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

N_BINS = 12
ACCUMULATE = 4
CFG = {"hidden": 48, "lr": 3e-3, "micro_batch": 32, "epochs": 25, "seed": 9}


def make_customers(n=3000, seed=9):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, 6)).astype("float32")
    contract = rng.integers(0, 3, n)
    scale = np.exp(1.5 + 0.55 * x[:, 0] - 0.4 * x[:, 1] * x[:, 2] + 0.3 * contract)
    time = scale * rng.weibull(4.0, n)
    censor = rng.uniform(3, 30, n)
    event = (time <= censor) & (time < N_BINS)
    seen = np.minimum(np.minimum(time, censor), N_BINS - 1e-3)
    bins = np.floor(seen).astype("int64")
    x = np.concatenate([x, np.eye(3, dtype="float32")[contract]], axis=1)
    return torch.from_numpy(x), torch.from_numpy(bins), torch.from_numpy(event.astype("float32"))


class PMFNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(),
                                  nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, N_BINS + 1)

    def forward(self, x):
        return F.softmax(self.head(self.body(x)), dim=-1)


def survival_nll(out, bins, event):
    logp = F.log_softmax(out, dim=-1)
    at = logp.gather(1, bins.unsqueeze(1)).squeeze(1)
    later = torch.arange(N_BINS + 1) > bins.unsqueeze(1)
    beyond = logp.masked_fill(~later, float("-inf")).logsumexp(1)
    return -(event * at + (1 - event) * beyond).mean()


def survival_curve(out):
    return 1 - F.softmax(out, dim=-1).cumsum(1)


def median_month(curve):
    return (curve > 0.5).sum(1).float()


def concordance(risk, bins, event):
    earlier = (bins.unsqueeze(1) < bins.unsqueeze(0)) & (event.unsqueeze(1) > 0)
    better = (risk.unsqueeze(1) > risk.unsqueeze(0)).float()
    better += 0.5 * (risk.unsqueeze(1) == risk.unsqueeze(0)).float()
    return (better * earlier).sum().item() / earlier.sum().item()


def train(model, data, cfg):
    loader = DataLoader(TensorDataset(*data), batch_size=cfg["micro_batch"], shuffle=True,
                        drop_last=True)
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        total = 0.0
        opt.zero_grad()
        for i, (x, b, e) in enumerate(loader, start=1):
            loss = survival_nll(model(x), b, e)
            (loss / ACCUMULATE).backward()
            if i % ACCUMULATE == 0 or i == len(loader):
                opt.step()
                opt.zero_grad()
            total += loss.item()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} train nll {total / len(loader):.4f}")


def main():
    torch.manual_seed(CFG["seed"])
    x, bins, event = make_customers()
    cut = 2400
    model = PMFNet(x.shape[1], CFG["hidden"])
    train(model, (x[:cut], bins[:cut], event[:cut]), CFG)
    xt, bt, et = x[cut:], bins[cut:], event[cut:]
    freq = torch.bincount(bins[:cut][event[:cut] > 0], minlength=N_BINS + 1).float() + 1
    freq[-1] += (event[:cut] == 0).sum()
    marginal = survival_nll(freq.log().expand(len(xt), -1), bt, et).item()
    model.eval()
    with torch.no_grad():
        out = model(xt)
        nll = survival_nll(out, bt, et).item()
        curve = survival_curve(out)
    hit = et > 0
    mae = (median_month(curve)[hit] - bt[hit]).abs().mean().item()
    print(f"marginal nll {marginal:.4f}")
    print(f"test nll {nll:.4f}  c-index {concordance(-curve.sum(1), bt, et):.4f}  "
          f"median error of churned {mae:.3f} months")


if __name__ == "__main__":
    main()
