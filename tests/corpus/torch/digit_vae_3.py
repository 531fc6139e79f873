"""Variational autoencoder on the 8x8 digits, with a few numbers on how good its codes and samples are."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn, optim


def get_data(seed=0):
    d = load_digits()
    order = np.random.default_rng(seed).permutation(len(d.target))
    x = torch.tensor(d.data[order] > 7, dtype=torch.float32)  # ink or no ink
    y = d.target[order]
    return x[:1400], y[:1400], x[1400:], y[1400:]


class VAE(nn.Module):
    def __init__(self, latent=8, hidden=128):
        super().__init__()
        self.latent = latent
        self.enc = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.to_mu = nn.Linear(hidden, latent)
        self.to_logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def encode(self, x):
        h = self.enc(x)
        return self.to_mu(h), self.to_logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar

    def sample(self, n):
        return torch.sigmoid(self.dec(torch.randn(n, self.latent)))


def vae_loss(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return recon + kl, recon, kl


def train(model, x, epochs=80, batch=64, lr=2e-3):
    opt = optim.Adam(model.parameters(), lr=lr)
    gamma = 0.1 ** (1 / epochs)
    sched = optim.lr_scheduler.ExponentialLR(opt, gamma)
    for epoch in range(1, epochs + 1):
        model.train()
        sums = np.zeros(3)
        for idx in torch.randperm(len(x)).split(batch):
            logits, mu, logvar = model(x[idx])
            loss, recon, kl = vae_loss(logits, x[idx], mu, logvar)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sums += np.array([loss.item(), recon.item(), kl.item()]) * len(idx)
        sched.step()
        if epoch == 1 or epoch % 20 == 0:
            print("epoch {:3d}  loss {:.4f}  recon {:.4f}  kl {:.4f}".format(epoch, *(sums / len(x))))


@torch.no_grad()
def report(model, x_tr, y_tr, x_te, y_te):
    model.eval()
    mu, logvar = model.encode(x_te)
    rec = torch.sigmoid(model.dec(mu))
    pixel_mse = (rec - x_te).pow(2).mean().item()
    mean_image_mse = (x_tr.mean(0) - x_te).pow(2).mean().item()
    active = (mu.var(dim=0) > 0.02).sum().item()

    fake = model.sample(1000)
    spread_fake = fake.std(dim=0).mean().item()
    spread_real = x_te.std(dim=0).mean().item()

    probe = LogisticRegression(max_iter=2000).fit(model.encode(x_tr)[0].numpy(), y_tr)
    acc = probe.score(mu.numpy(), y_te)

    print(f"held-out reconstruction mse   {pixel_mse:.4f}   (mean image {mean_image_mse:.4f})")
    print(f"active latent units           {active} of {model.latent}")
    print(f"pixel spread over samples     {spread_fake:.4f}   (real digits {spread_real:.4f})")
    print(f"digit accuracy from the codes {acc:.3f}   (largest class {np.bincount(y_te).max() / len(y_te):.3f})")


def main():
    torch.manual_seed(8)
    x_tr, y_tr, x_te, y_te = get_data()
    model = VAE()
    train(model, x_tr)
    report(model, x_tr, y_tr, x_te, y_te)


if __name__ == "__main__":
    main()
