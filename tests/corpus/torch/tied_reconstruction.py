"""Autoencoder on digits: decoder reuses the transposed encoder weights, sign-based optimiser."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split


class Lion(torch.optim.Optimizer):
    """Evolved sign momentum (Chen et al. 2023)."""

    def __init__(self, params, lr=3e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_((b1 * m + (1 - b1) * p.grad).sign_(), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class TiedAutoencoder(nn.Module):
    def __init__(self, dims=(64, 48, 10)):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.out_bias = nn.ParameterList(nn.Parameter(torch.zeros(a)) for a in dims[:-1])

    def encode(self, x):
        for k, layer in enumerate(self.layers):
            x = layer(x)
            if k < len(self.layers) - 1:
                x = F.elu(x)
        return x

    def forward(self, x):
        h = self.encode(x)
        for k in reversed(range(len(self.layers))):
            h = F.linear(h, self.layers[k].weight.t(), self.out_bias[k])
            if k > 0:
                h = F.elu(h)
        return h


def main():
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype("float32")
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    x_tr, x_te = torch.from_numpy(X_tr), torch.from_numpy(X_te)

    net = TiedAutoencoder()
    opt = Lion(net.parameters(), lr=5e-4, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=60)
    for epoch in range(60):
        net.train()
        for idx in torch.randperm(len(x_tr)).split(50):
            clean = x_tr[idx]
            noisy = clean * (torch.rand_like(clean) > 0.1)
            loss = F.mse_loss(net(noisy), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        if epoch % 15 == 14:
            net.eval()
            with torch.no_grad():
                print(f"epoch {epoch + 1}: train {loss.item():.4f} test {F.mse_loss(net(x_te), x_te).item():.4f}")

    net.eval()
    with torch.no_grad():
        mse = F.mse_loss(net(x_te), x_te).item()
        z_tr, z_te = net.encode(x_tr).numpy(), net.encode(x_te).numpy()
    mean_mse = float(np.mean((X_te - X_tr.mean(0)) ** 2))
    probe = LogisticRegression(max_iter=2000).fit(z_tr, y_tr).score(z_te, y_te)
    print(f"test MSE {mse:.4f} (mean image {mean_mse:.4f}); probe accuracy on codes {probe:.3f}")


if __name__ == "__main__":
    main()
