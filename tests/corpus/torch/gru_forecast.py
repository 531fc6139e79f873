import copy
import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)


def load_series(n=2600):
    t = torch.arange(n, dtype=torch.float32)
    s = torch.sin(2 * math.pi * t / 24) + 0.5 * torch.sin(2 * math.pi * t / 168 + 1.0)
    s = s + 0.3 * torch.sin(2 * math.pi * t / 24) * torch.sin(2 * math.pi * t / 60)
    return s + 0.02 * torch.randn(n)


def windows(series, length=36, ahead=6):
    x = series.unfold(0, length + ahead, 1)
    return x[:, :length].unsqueeze(-1).contiguous(), x[:, length:].contiguous()


class Forecaster(nn.Module):
    def __init__(self, hidden=24, ahead=6):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, ahead)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1])


def evaluate(model, loader):
    model.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            se += ((model(x) - y) ** 2).sum().item()
            n += y.numel()
    return se / n


def fit(model, train_loader, val_loader, epochs=24, lr=0.05, min_lr=1e-4):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    best_score, best_model = float("inf"), copy.deepcopy(model)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        score = evaluate(model, val_loader)
        note = ""
        if score < best_score:
            best_score, best_model = score, copy.deepcopy(model)
        else:
            # got worse: go back to the best weights and continue with half the step
            model = copy.deepcopy(best_model)
            for group in opt.param_groups:
                group["lr"] = max(group["lr"] * 0.5, min_lr)
            note = f"  back to best, lr {opt.param_groups[0]['lr']:.5f}"
        print(f"{epoch:3d}  train mse {total / len(train_loader):.5f}  val mse {score:.5f}{note}")
    return best_model, best_score


series = load_series()
mean, std = series[:1800].mean(), series[:1800].std()
series = (series - mean) / std
x_tr, y_tr = windows(series[:1800])
x_va, y_va = windows(series[1800:2200])
x_te, y_te = windows(series[2200:])
train_loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=64, shuffle=True)
val_loader = DataLoader(TensorDataset(x_va, y_va), batch_size=256)
test_loader = DataLoader(TensorDataset(x_te, y_te), batch_size=256)

model, val = fit(Forecaster(), train_loader, val_loader)
naive = ((x_te[:, -1:, 0] - y_te) ** 2).mean().item()
print(f"best val mse {val:.5f}")
print(f"test mse {evaluate(model, test_loader):.5f}   (last value repeated: {naive:.5f})")
