"""Denoising autoencoder on log-spectrogram frames: take mains hum and hiss off speech-like frames."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BINS = 64


def frames(n, gen):
    """Log magnitude frames: a few harmonics under a formant envelope."""
    k = torch.arange(BINS).float()
    f0 = torch.rand(n, 1, generator=gen) * 5 + 4
    formant = torch.rand(n, 1, generator=gen) * 30 + 10
    width = torch.rand(n, 1, generator=gen) * 8 + 8
    comb = torch.cos(2 * torch.pi * k / f0).clamp(min=0)
    env = torch.exp(-((k - formant) / width) ** 2)
    clean = torch.log(0.02 + comb * env)
    hum = torch.zeros(n, BINS)
    hum[:, 3::9] = 2.5 * torch.rand(n, 1, generator=gen)
    noisy = clean + hum + 0.3 * torch.randn(n, BINS, generator=gen)
    return noisy, clean


class Standardise:
    def fit(self, x):
        self.mu, self.sd = x.mean(0), x.std(0) + 1e-5
        return self

    def __call__(self, x):
        return (x - self.mu) / self.sd


class Denoiser(nn.Module):
    def __init__(self, code=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(BINS, 128), nn.ReLU(), nn.Linear(128, code))
        self.decoder = nn.Sequential(nn.Linear(code, 128), nn.ReLU(), nn.Linear(128, BINS))
        self.squash = nn.Sigmoid()

    def forward(self, x):
        z = self.encoder(x)
        return self.squash(self.decoder(z))


def run():
    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(4)
    noisy, clean = frames(6000, gen)
    vnoisy, vclean = frames(1000, gen)
    sx, sy = Standardise().fit(noisy), Standardise().fit(clean)
    loader = DataLoader(TensorDataset(sx(noisy), sy(clean)), batch_size=64, shuffle=True)
    net = Denoiser()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(20):
        net.train()
        total = 0
        for x, t in loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), t)
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            out = net(sx(vnoisy))
            val = nn.functional.mse_loss(out, sy(vclean)).item()
        print(f"epoch {epoch:2d} train {total / len(loader):.4f} val {val:.4f}")
    before = (vnoisy - vclean).pow(2).mean().sqrt().item()
    after = (out * sy.sd + sy.mu - vclean).pow(2).mean().sqrt().item()
    print(f"error in log units: {before:.3f} before, {after:.3f} after")


if __name__ == "__main__":
    run()
