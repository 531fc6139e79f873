"""Compress 8x8 digits to a few numbers with a variational autoencoder."""
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class Config:
    latent: int = 10
    hidden: int = 192
    epochs: int = 30
    batch_size: int = 64
    lr: float = 2e-3
    beta: float = 0.3
    clip: float = 5.0


class VAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU())
        self.mu = nn.Linear(cfg.hidden, cfg.latent)
        self.log_sigma = nn.Linear(cfg.hidden, cfg.latent)
        self.dec = nn.Sequential(nn.Linear(cfg.latent, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, cfg.hidden),
                                 nn.SiLU(), nn.Linear(cfg.hidden, 64))

    def posterior(self, x):
        h = self.enc(x)
        return Normal(self.mu(h), self.log_sigma(h).clamp(-6, 3).exp())

    def forward(self, x):
        q = self.posterior(x)
        z = q.sample() if self.training else q.mean
        return self.dec(z), q


def elbo_terms(model, x):
    logits, q = model(x)
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    kl = kl_divergence(q, Normal(0.0, 1.0)).sum(1).mean()
    return rec, kl


def train_epoch(model, loader, opt, cfg):
    model.train()
    sums = torch.zeros(2)
    for (x,) in loader:
        rec, kl = elbo_terms(model, x)
        loss = rec + cfg.beta * kl
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        opt.step()
        sums += torch.tensor([rec.item(), kl.item()])
    return (sums / len(loader)).tolist()


@torch.no_grad()
def validate(model, x):
    model.eval()
    logits, _ = model(x)
    return F.mse_loss(logits.sigmoid(), x).item()


def main(cfg):
    torch.manual_seed(0)
    images = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    train_x, valid_x = train_test_split(images, test_size=0.2, random_state=0)
    loader = DataLoader(TensorDataset(train_x), batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    model = VAE(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.epochs)
    mean_image_mse = F.mse_loss(train_x.mean(0).expand_as(valid_x), valid_x).item()
    print(f"mean image mse {mean_image_mse:.4f}")

    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vae.pt"
        for epoch in range(cfg.epochs):
            rec, kl = train_epoch(model, loader, opt, cfg)
            sched.step()
            mse = validate(model, valid_x)
            if mse < best:
                best = mse
                torch.save({"model": model.state_dict(), "config": asdict(cfg)}, path)
            if epoch % 5 == 4:
                print(f"epoch {epoch + 1:2d}  rec {rec:.2f}  kl {kl:.2f}  valid mse {mse:.4f}")
        model.load_state_dict(torch.load(path)["model"])
    print(f"best model: valid mse {validate(model, valid_x):.4f}")


if __name__ == "__main__":
    main(Config())
