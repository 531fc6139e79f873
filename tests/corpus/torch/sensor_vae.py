from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    channels: int = 24
    factors: int = 4
    latent: int = 6
    hidden: int = 64
    n_train: int = 3000
    n_test: int = 600
    epochs: int = 25
    batch_size: int = 64
    lr: float = 2e-3
    seed: int = 5


def simulate_sensors(cfg):
    rng = np.random.default_rng(cfg.seed)
    n = cfg.n_train + cfg.n_test
    state = rng.normal(size=(n, cfg.factors))
    mixing = rng.normal(size=(cfg.factors, cfg.channels))
    signal = np.tanh(state @ mixing * 0.6) + 0.1 * rng.normal(size=(n, cfg.channels))
    train, test = signal[: cfg.n_train], signal[cfg.n_train:]
    mean, std = train.mean(0), train.std(0)
    scale = lambda a: torch.tensor((a - mean) / std, dtype=torch.float32)
    return scale(train), scale(test)


class SensorVAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(cfg.channels, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
        )
        self.to_mu = nn.Linear(cfg.hidden, cfg.latent)
        self.to_logvar = nn.Linear(cfg.hidden, cfg.latent)
        self.decoder = nn.Sequential(
            nn.Linear(cfg.latent, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, cfg.channels),
        )

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = mu
        if self.training:
            z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.decoder(z), mu, logvar


def elbo_terms(x, recon, mu, logvar):
    rec = F.mse_loss(recon, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return rec, kld


def train(cfg, model, data):
    loader = DataLoader(TensorDataset(data), batch_size=cfg.batch_size, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cfg.epochs)
    for epoch in range(cfg.epochs):
        model.train()
        sums = np.zeros(2)
        for (x,) in loader:
            recon, mu, logvar = model(x)
            rec, kld = elbo_terms(x, recon, mu, logvar)
            opt.zero_grad()
            (rec + kld).backward()
            opt.step()
            sums += [rec.item(), kld.item()]
        sched.step()
        if epoch % 4 == 0 or epoch == cfg.epochs - 1:
            print(f"epoch {epoch:2d}  rec {sums[0] / len(loader):.4f}  kld {sums[1] / len(loader):.4f}")


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    train_x, test_x = simulate_sensors(cfg)
    model = SensorVAE(cfg)
    train(cfg, model, train_x)

    model.eval()
    with torch.no_grad():
        recon, mu, _ = model(test_x)
    err = F.mse_loss(recon, test_x).item()
    base = F.mse_loss(train_x.mean(0).expand_as(test_x), test_x).item()
    print(f"test reconstruction mse {err:.4f}   (mean predictor {base:.4f})")
    print(f"std of latent means     {mu.std(0).mean().item():.4f}")


if __name__ == "__main__":
    main()
