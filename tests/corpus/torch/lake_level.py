# Fill gaps in a lake-level record with a sine network (SIREN) fitted by L-BFGS.
# One series, a few hundred hourly readings, full batch, double precision.
import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(8)
rng = np.random.default_rng(8)


class SineLayer(nn.Module):
    def __init__(self, n_in, n_out, omega, first=False):
        super().__init__()
        self.omega = omega
        self.lin = nn.Linear(n_in, n_out)
        bound = 1 / n_in if first else np.sqrt(6 / n_in) / omega
        nn.init.uniform_(self.lin.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.omega * self.lin(x))


def lake_record(n=720):
    t = np.linspace(-1, 1, n)
    level = (0.8 * np.sin(2 * np.pi * 1.3 * t) + 0.35 * np.sin(2 * np.pi * 4.1 * t + 0.5)
             + 0.5 * np.exp(-((t - 0.2) / 0.12) ** 2) - 0.3 * t)
    return t, level + rng.normal(0, 0.03, n), level


t, measured, truth = lake_record()

# the logger loses blocks of readings; those blocks are what we are judged on
held = np.zeros(len(t), dtype=bool)
for start in range(25, len(t) - 20, 60):
    held[start:start + 12] = True
val = np.zeros(len(t), dtype=bool)
for start in range(55, len(t) - 20, 60):
    val[start:start + 6] = True
fit = ~(held | val)

centre, spread = measured[fit].mean(), measured[fit].std()
x = torch.from_numpy(t)[:, None]
y = torch.from_numpy((measured - centre) / spread)[:, None]

net = nn.Sequential(
    SineLayer(1, 32, omega=12.0, first=True),
    SineLayer(32, 32, omega=2.0),
    nn.Linear(32, 1),
)
optimizer = torch.optim.LBFGS(net.parameters(), lr=1, max_iter=10, history_size=20,
                              line_search_fn="strong_wolfe")
penalty = 1e-4
x_fit, y_fit = x[fit], y[fit]


def closure():
    optimizer.zero_grad()
    residual = ((net(x_fit) - y_fit) ** 2).mean()
    ridge = sum((p ** 2).sum() for n, p in net.named_parameters() if "weight" in n)
    loss = residual + penalty * ridge
    loss.backward()
    return loss


best_val, best_state = float("inf"), None
for outer in range(1, 26):
    loss = optimizer.step(closure)
    with torch.no_grad():
        val_mse = ((net(x[val]) - y[val]) ** 2).mean().item()
    if val_mse < best_val:
        best_val = val_mse
        best_state = {k: v.detach().clone() for k, v in net.state_dict().items()}
    if outer % 5 == 0:
        print(f"round {outer:2d}  objective {loss.item():.5f}  val mse {val_mse:.5f}")

net.load_state_dict(best_state)
with torch.no_grad():
    guess = net(x).numpy()[:, 0] * spread + centre

rmse = np.sqrt(((guess - measured)[held] ** 2).mean())
mean_rmse = np.sqrt(((centre - measured)[held] ** 2).mean())
linear = np.interp(t[held], t[fit], measured[fit])
linear_rmse = np.sqrt(((linear - measured[held]) ** 2).mean())
print(f"gap RMSE, mean level:           {mean_rmse:.4f}")
print(f"gap RMSE, straight-line filling: {linear_rmse:.4f}")
print(f"gap RMSE, sine network:          {rmse:.4f}   (sensor noise 0.03)")
