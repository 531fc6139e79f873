"""VAE on small renders of amber beads (16x16): learn a code, then look at reconstructions."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 16


def render_beads(n, generator):
    u = lambda lo, hi: torch.rand(n, 1, 1, generator=generator) * (hi - lo) + lo
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    cx, cy = u(4, 11), u(4, 11)
    rx, ry = u(2, 4.5), u(2, 4.5)
    glow = u(0.5, 1.0)
    dist = ((xx - cx) / rx) ** 2 + ((yy - cy) / ry) ** 2
    img = glow * torch.sigmoid(4 * (1 - dist))
    return img.unsqueeze(1).clamp(0, 1)


class BeadVAE(nn.Module):
    def __init__(self, latent=6, width=128):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.SiLU(),
            nn.Flatten(), nn.Linear(32 * 16, width), nn.SiLU(),
        )
        self.to_mu = nn.Linear(width, latent)
        self.to_logvar = nn.Linear(width, latent)
        self.dec = nn.Sequential(
            nn.Linear(latent, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, SIZE * SIZE), nn.Sigmoid(),
        )

    def encode(self, x):
        h = self.enc(x)
        return self.to_mu(h), self.to_logvar(h)

    def decode(self, z):
        return self.dec(z).view(-1, 1, SIZE, SIZE)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decode(z), mu, logvar


def elbo_terms(recon, x, mu, logvar):
    rec = F.binary_cross_entropy(recon, x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
    return rec, kl


@torch.no_grad()
def explained(model, x):
    """Share of the pixel variance that the reconstruction from the mean code explains."""
    model.eval()
    mu, _ = model.encode(x)
    err = (model.decode(mu) - x).pow(2).mean()
    return (1 - err / (x - x.mean(0)).pow(2).mean()).item()


def fit(model, loader, x_val, args):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        sums = torch.zeros(2)
        for (x,) in loader:
            recon, mu, logvar = model(x)
            rec, kl = elbo_terms(recon, x, mu, logvar)
            loss = rec + args.beta * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += torch.tensor([rec.item(), kl.item()])
        rec, kl = (sums / len(loader)).tolist()
        print(f"epoch {epoch:2d}  rec {rec:.4f}  kl {kl:.4f}  explained {explained(model, x_val):.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--beta", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)

    beads = render_beads(2400, gen)
    loader = DataLoader(TensorDataset(beads[:2000]), batch_size=args.batch, shuffle=True, drop_last=True)
    model = BeadVAE()
    fit(model, loader, beads[2000:], args)

    model.eval()
    with torch.no_grad():
        samples = model.decode(torch.randn(64, 6))
    print(f"spread of sampled images: {samples.std(0).mean():.4f} (data: {beads.std(0).mean():.4f})")


if __name__ == "__main__":
    main()
