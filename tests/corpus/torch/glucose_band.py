import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(40)


class Calibrated:
    def __init__(self, width=16, rounds=60):
        self.width, self.rounds = width, rounds

    def fit(self, x, y):
        self.x_mu, self.x_sd = x.mean(0), x.std(0)
        self.y_mu, self.y_sd = y.mean(), y.std()
        x, y = (x - self.x_mu) / self.x_sd, (y - self.y_mu) / self.y_sd
        self.net = nn.Sequential(nn.Linear(x.shape[1], self.width), nn.Tanh(), nn.Linear(self.width, 2))
        solver = torch.optim.LBFGS(self.net.parameters(), lr=1.0, max_iter=10, line_search_fn="strong_wolfe")
        decay = 0.1

        def objective():
            solver.zero_grad()
            mu, log_var = self.net(x).unbind(1)
            nll = 0.5 * (log_var + (y - mu) ** 2 * torch.exp(-log_var)).mean()
            penalty = sum((p ** 2).sum() for p in self.net.parameters() if p.dim() > 1)
            total = nll + decay * penalty
            total.backward()
            return total

        for r in range(self.rounds):
            value = solver.step(objective)
            if r % 10 == 0:
                print(f"round {r:2d}  objective {value.item():.4f}")
        return self

    @torch.no_grad()
    def predict(self, x):
        mu, log_var = self.net((x - self.x_mu) / self.x_sd).unbind(1)
        return mu * self.y_sd + self.y_mu, torch.exp(0.5 * log_var) * self.y_sd


def main():
    data = load_diabetes()
    parts = train_test_split(data.data, data.target, test_size=0.3, random_state=40)
    x_tr, x_te, y_tr, y_te = (torch.tensor(p, dtype=torch.float32) for p in parts)
    model = Calibrated().fit(x_tr, y_tr)
    mu, sd = model.predict(x_te)
    rmse = (mu - y_te).pow(2).mean().sqrt().item()
    base = (y_te - y_tr.mean()).pow(2).mean().sqrt().item()
    nll = -torch.distributions.Normal(mu, sd).log_prob(y_te).mean().item()
    flat = -torch.distributions.Normal(y_tr.mean(), y_tr.std()).log_prob(y_te).mean().item()
    print(f"test rmse {rmse:.1f}   mean predictor {base:.1f}")
    print(f"test nll {nll:.3f}   one fixed normal {flat:.3f}")


if __name__ == "__main__":
    main()
