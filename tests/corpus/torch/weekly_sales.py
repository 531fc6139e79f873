import numpy as np
import torch
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import TimeSeriesSplit

torch.set_default_dtype(torch.float64)
torch.manual_seed(9)

# daily sales of a small bakery, three years, simulated
days = np.arange(3 * 365)
gen = np.random.default_rng(9)
weekday = np.array([0.8, 0.85, 0.9, 1.0, 1.3, 1.7, 0.4])[days % 7]
season = 1 + 0.25 * np.sin(2 * np.pi * days / 365.25 - 0.6)
ar = np.zeros(len(days))
for d in range(1, len(days)):
    ar[d] = 0.75 * ar[d - 1] + gen.normal(0, 0.05)
sales = 120 * weekday * season * np.exp(ar)

LAGS = [1, 2, 3, 7, 14, 21, 28]
START = max(LAGS)
log_sales = np.log(sales)
rows = np.arange(START, len(days))
lagged = np.stack([log_sales[rows - k] for k in LAGS], 1)
calendar = np.eye(7)[days[rows] % 7]
yearly = np.stack([np.sin(2 * np.pi * rows / 365.25), np.cos(2 * np.pi * rows / 365.25)], 1)
lag_calendar = np.concatenate([lagged, calendar, yearly], 1)
target = log_sales[rows]


class SkipNet(torch.nn.Module):
    """linear model plus a small bent correction"""

    def __init__(self, d):
        super().__init__()
        self.line = torch.nn.Linear(d, 1)
        self.bend = torch.nn.Sequential(torch.nn.Linear(d, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
        torch.nn.init.zeros_(self.bend[2].weight)
        torch.nn.init.zeros_(self.bend[2].bias)

    def forward(self, x):
        return (self.line(x) + self.bend(x)).squeeze(-1)


def fit(x, t, rounds=12, decay=2e-4):
    net = SkipNet(x.shape[1])
    opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        err = torch.nn.functional.huber_loss(net(x), t, delta=1.0)
        penalty = sum((p ** 2).sum() for n, p in net.named_parameters() if n.endswith("weight"))
        total = err + decay * penalty
        total.backward()
        return total

    history = [opt.step(closure).item() for _ in range(rounds)]
    print("   objective", " ".join(f"{h:.5f}" for h in history[::3]), "->", f"{closure().item():.5f}")
    return net.requires_grad_(False)


ours, naive = [], []
for k, (past, future) in enumerate(TimeSeriesSplit(n_splits=5, test_size=90).split(lag_calendar)):
    mean, scale = lag_calendar[past].mean(0), lag_calendar[past].std(0)
    t_mean, t_scale = target[past].mean(), target[past].std()
    as_x = lambda part: torch.from_numpy((lag_calendar[part] - mean) / scale)
    net = fit(as_x(past), torch.from_numpy((target[past] - t_mean) / t_scale))
    forecast = np.exp(net(as_x(future)).numpy() * t_scale + t_mean)
    truth = sales[rows[future]]
    ours.append(mean_absolute_error(truth, forecast))
    naive.append(mean_absolute_error(truth, sales[rows[future] - 7]))
    print(f"split {k}: trained on {len(past)} days, MAE {ours[-1]:.2f}, same day last week {naive[-1]:.2f}")

print(f"mean MAE {np.mean(ours):.2f} against {np.mean(naive):.2f}")
