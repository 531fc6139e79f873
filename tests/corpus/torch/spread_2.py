import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def simulate(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 4, generator=g) * 2 - 1
    centre = 0.3 * torch.sin(3 * x[:, 0]) + 0.2 * x[:, 1] * x[:, 2]
    spread = 0.01 + 0.05 * torch.sigmoid(4 * x[:, 3])
    y = centre + spread * torch.randn(n, generator=g)
    return x, y


class MeanAndSpread(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.mu = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mu(h).squeeze(-1), self.log_var(h).squeeze(-1)


def nll(mu, log_var, y):
    return 0.5 * (log_var + (y - mu) ** 2 / log_var.exp() + math.log(2 * math.pi)).mean()


class Fitter:
    def __init__(self, model, epochs=60, lr=3e-3):
        self.model = model
        self.epochs = epochs
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=epochs)

    def fit(self, loader, val):
        for epoch in range(self.epochs):
            total = 0.0
            for xb, yb in loader:
                self.opt.zero_grad()
                loss = nll(*self.model(xb), yb)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.opt.step()
                total += loss.item()
            self.sched.step()
            if epoch % 10 == 9:
                print(f"epoch {epoch + 1}: train {total / len(loader):.3f} val {self.score(val):.3f}")
        return self

    @torch.no_grad()
    def score(self, data):
        return nll(*self.model(data[0]), data[1]).item()


def main():
    torch.manual_seed(9)
    x, y = simulate(6000, 1)
    val, test = simulate(1000, 2), simulate(2000, 3)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    fitter = Fitter(MeanAndSpread()).fit(loader, val)

    with torch.no_grad():
        mu, log_var = fitter.model(test[0])
    sigma = (0.5 * log_var).exp()
    inside = ((test[1] - mu).abs() < 1.96 * sigma).float().mean().item()
    const_mu = y.mean().expand_as(test[1])
    const_lv = y.var().log().expand_as(test[1])
    true_sigma = 0.01 + 0.05 * torch.sigmoid(4 * test[0][:, 3])
    print(f"test nll {fitter.score(test):.3f}, constant Gaussian {nll(const_mu, const_lv, test[1]).item():.3f}")
    print(f"95% interval covers {inside:.3f}")
    print(f"correlation of predicted and true spread {torch.corrcoef(torch.stack([sigma, true_sigma]))[0, 1]:.3f}")


if __name__ == "__main__":
    main()
