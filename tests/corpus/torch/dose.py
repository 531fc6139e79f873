import math
import torch
import torch.nn as nn

torch.manual_seed(4)
torch.set_default_dtype(torch.float64)

# response of a plant to a dose; the spread grows with the dose
n = 800
x = torch.rand(n, 1) * 4 - 2
sigma = 0.02 + 0.08 * (x + 2) / 4
y = torch.sin(2 * x) * 0.4 + 0.1 * x + sigma * torch.randn(n, 1)
x, order = torch.sort(x, dim=0)
y, sigma = y[order[:, 0]], sigma[order[:, 0]]
hold = torch.arange(n) % 5 == 0


class MeanAndSpread(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        mu, log_s = self.head(self.body(x)).chunk(2, dim=1)
        return mu, log_s.clamp(-7, 3)


def nll(mu, log_s, y):
    return (log_s + 0.5 * ((y - mu) / log_s.exp()) ** 2 + 0.5 * math.log(2 * math.pi)).mean()


model = MeanAndSpread()
opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=20, history_size=20, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = nll(*model(x[~hold]), y[~hold])
    loss.backward()
    return loss


for step in range(20):
    loss = opt.step(closure)
    if step % 4 == 3:
        with torch.no_grad():
            mu, log_s = model(x[hold])
            inside = ((y[hold] - mu).abs() < 1.96 * log_s.exp()).double().mean()
            best = nll(torch.sin(2 * x[hold]) * 0.4 + 0.1 * x[hold], sigma[hold].log(), y[hold])
        print(f"step {step + 1:2d}  train nll {loss.item():+.3f}  held-out nll {nll(mu, log_s, y[hold]):+.3f} "
              f"(true model {best:+.3f})  95% interval covers {inside:.2f}")
