import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributions as D

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--zdim", type=int, default=6)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--beta", type=float, default=0.5)
args = parser.parse_args()

torch.manual_seed(0)
S = 16


def draw_ovals(n):
    yy, xx = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")
    cx = torch.rand(n, 1, 1) * 8 + 4
    cy = torch.rand(n, 1, 1) * 8 + 4
    rx = torch.rand(n, 1, 1) * 3 + 1.5
    ry = torch.rand(n, 1, 1) * 3 + 1.5
    d = ((xx - cx) / rx) ** 2 + ((yy - cy) / ry) ** 2
    return torch.sigmoid(6 * (1 - d)).view(n, -1)


class VAE(nn.Module):
    def __init__(self, zdim):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(S * S, 200), nn.ReLU(), nn.Linear(200, 100), nn.ReLU())
        self.to_mu = nn.Linear(100, zdim)
        self.to_logvar = nn.Linear(100, zdim)
        self.dec = nn.Sequential(
            nn.Linear(zdim, 100), nn.ReLU(),
            nn.Linear(100, 200), nn.ReLU(),
            nn.Linear(200, S * S),
        )

    def posterior(self, x):
        h = self.enc(x)
        return D.Normal(self.to_mu(h), torch.exp(0.5 * self.to_logvar(h)))

    def forward(self, x):
        q = self.posterior(x)
        z = q.sample()
        return self.dec(z), q


def elbo_terms(logits, x, q):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    prior = D.Normal(torch.zeros_like(q.mean), torch.ones_like(q.stddev))
    kl = D.kl_divergence(q, prior).sum(1).mean()
    return rec, kl


train_x = draw_ovals(4000)
test_x = draw_ovals(500)
mean_img = train_x.mean(0, keepdim=True).clamp(1e-4, 1 - 1e-4)
base = F.binary_cross_entropy(mean_img.expand_as(test_x), test_x, reduction="none").sum(1).mean()
print(f"reconstruction of the mean image: {base:.2f}")

model = VAE(args.zdim)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(args.epochs):
    model.train()
    perm = torch.randperm(len(train_x))
    rec_sum = kl_sum = 0.0
    steps = 0
    for i in range(0, len(perm), args.batch):
        x = train_x[perm[i:i + args.batch]]
        logits, q = model(x)
        rec, kl = elbo_terms(logits, x, q)
        loss = rec + args.beta * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rec_sum += rec.item()
        kl_sum += kl.item()
        steps += 1
    model.eval()
    with torch.no_grad():
        test_rec, test_kl = elbo_terms(*[(o, test_x, q) for o, q in [model(test_x)]][0])
    print(f"[{epoch + 1:02d}/{args.epochs}] rec {rec_sum / steps:.2f} kl {kl_sum / steps:.3f} "
          f"| test rec {test_rec:.2f} kl {test_kl:.3f}")
