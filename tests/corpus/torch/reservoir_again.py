import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(9)


def mackey_glass(n, tau=17, discard=300):
    x = [1.2] * (tau + 1)
    for _ in range(n + discard):
        x.append(x[-1] + 0.2 * x[-1 - tau] / (1 + x[-1 - tau] ** 10) - 0.1 * x[-1])
    return torch.tensor(x[-n:], dtype=torch.float64)


class Reservoir(nn.Module):
    def __init__(self, size=250, leak=0.5, radius=0.95):
        super().__init__()
        w = torch.randn(size, size, dtype=torch.float64) * (torch.rand(size, size) < 0.1)
        w = w * radius / torch.linalg.eigvals(w).abs().max()
        self.w = nn.Parameter(w, requires_grad=False)
        self.w_in = nn.Parameter(torch.rand(size, dtype=torch.float64) - 0.5, requires_grad=False)
        self.leak = leak
        self.readout = nn.Linear(size + 1, 1, dtype=torch.float64)
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)

    @torch.no_grad()
    def states(self, series):
        h, out = torch.zeros(len(self.w), dtype=torch.float64), []
        for u in series:
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in * u)
            out.append(torch.cat([h, u.view(1)]))
        return torch.stack(out)

    def forward(self, states):
        return self.readout(states).squeeze(-1)


HORIZON, WASHOUT = 12, 100
series = mackey_glass(2600)
series = (series - series[:2000].mean()) / series[:2000].std()
model = Reservoir()
states = model.states(series[:-HORIZON])[WASHOUT:]
target = series[HORIZON + WASHOUT:]
s_train, y_train = states[:1800], target[:1800]
s_test, y_test = states[1800:], target[1800:]
last_value = series[WASHOUT:-HORIZON][1800:]

trainable = [p for p in model.parameters() if p.requires_grad]
print(f"trainable {sum(p.numel() for p in trainable)} of {sum(p.numel() for p in model.parameters())} parameters")
optimizer = torch.optim.LBFGS(trainable, lr=1.0, max_iter=40, history_size=20, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = (model(s_train) - y_train).pow(2).mean() + 1e-7 * model.readout.weight.pow(2).sum()
    loss.backward()
    return loss


for round_ in range(12):
    loss = optimizer.step(closure)
    with torch.no_grad():
        test_mse = (model(s_test) - y_test).pow(2).mean().item()
    print(f"round {round_:2d} train loss {loss.item():.6f} test mse {test_mse:.6f}")

naive = (last_value - y_test).pow(2).mean().item()
print(f"{HORIZON}-step forecast: nrmse {np.sqrt(test_mse / y_test.var().item()):.4f}, "
      f"last value carried forward {np.sqrt(naive / y_test.var().item()):.4f}")
