import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
LENGTH = 64


def synth_beats(n, gen):
    t = torch.linspace(0, 1, LENGTH).unsqueeze(0)
    centre = 0.35 + 0.3 * torch.rand(n, 1, generator=gen)
    width = 0.02 + 0.05 * torch.rand(n, 1, generator=gen)
    height = 0.6 + 0.8 * torch.rand(n, 1, generator=gen)
    drift = 0.4 * torch.rand(n, 1, generator=gen)
    phase = 2 * math.pi * torch.rand(n, 1, generator=gen)
    beat = height * torch.exp(-((t - centre) ** 2) / (2 * width ** 2))
    base = drift * torch.sin(2 * math.pi * t + phase)
    return beat + base + 0.03 * torch.randn(n, LENGTH, generator=gen)


class BeatVAE(nn.Module):
    def __init__(self, hidden=128, latent=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(LENGTH, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU())
        self.to_mu = nn.Linear(hidden, latent)
        self.to_logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, LENGTH))

    def encode(self, x):
        h = self.enc(x)
        return self.to_mu(h), self.to_logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo_terms(recon, x, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / x.size(0)
    return rec, kld


class Runner:
    def __init__(self, model, lr=1e-3, beta=0.05, batch=64):
        self.model, self.beta, self.batch = model, beta, batch
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, data, epochs):
        for epoch in range(epochs):
            self.model.train()
            sums = [0.0, 0.0]
            order = torch.randperm(len(data))
            chunks = order.split(self.batch)
            for idx in chunks:
                x = data[idx]
                recon, mu, logvar = self.model(x)
                rec, kld = elbo_terms(recon, x, mu, logvar)
                loss = rec + self.beta * kld
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                sums[0] += rec.item()
                sums[1] += kld.item()
            if epoch % 10 == 9:
                print(f"epoch {epoch + 1:3d}  rec {sums[0] / len(chunks):.4f}  kld {sums[1] / len(chunks):.4f}")
        return self

    @torch.no_grad()
    def reconstruct(self, x):
        self.model.eval()
        mu, _ = self.model.encode(x)
        return self.model.dec(mu)


if __name__ == "__main__":
    gen = torch.Generator().manual_seed(0)
    train, test = synth_beats(3000, gen), synth_beats(600, gen)
    runner = Runner(BeatVAE()).fit(train, epochs=40)
    err = F.mse_loss(runner.reconstruct(test), test).item()
    mean_err = F.mse_loss(train.mean(0, keepdim=True).expand_as(test), test).item()
    print(f"test reconstruction mse {err:.5f}   mean-beat mse {mean_err:.5f}   explained {1 - err / mean_err:.3f}")
