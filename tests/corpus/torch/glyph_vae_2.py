import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)

# ten 5x4 glyphs, upscaled, shifted and thickened at random to 16x16 binary images
FONT = """
0110 1001 1001 1001 0110
0010 0110 0010 0010 0111
1110 0001 0110 1000 1111
1110 0001 0110 0001 1110
1010 1010 1111 0010 0010
1111 1000 1110 0001 1110
0111 1000 1110 1001 0110
1111 0001 0010 0100 0100
0110 1001 0110 1001 0110
0110 1001 0111 0001 1110
""".strip().splitlines()
GLYPHS = torch.stack([torch.tensor([[float(c) for c in row] for row in line.split()]) for line in FONT])


def sample_images(n):
    which = torch.randint(10, (n,))
    canvas = torch.zeros(n, 16, 16)
    for i, k in enumerate(which):
        g = F.interpolate(GLYPHS[k][None, None], scale_factor=2.0, mode="nearest")[0, 0]
        y, x = torch.randint(1, 6, (1,)).item(), torch.randint(2, 7, (1,)).item()
        canvas[i, y:y + 10, x:x + 8] = g
    drop = torch.rand_like(canvas) < 0.02
    return torch.where(drop, 1 - canvas, canvas), which


class GlyphVAE(nn.Module):
    def __init__(self, z=12, hidden=256):
        super().__init__()
        self.enc = nn.Sequential(nn.Flatten(), nn.Linear(256, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, z)
        self.logvar = nn.Linear(hidden, z)
        self.dec = nn.Sequential(nn.Linear(z, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 256))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z).view(-1, 16, 16), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return recon, kl


def nearest_glyph_accuracy(model, x, which):
    """Classify by the nearest training code: does the code know which glyph it is?"""
    model.eval()
    with torch.no_grad():
        codes = model.mu(model.enc(x))
    half = len(x) // 2
    d = torch.cdist(codes[half:], codes[:half])
    return (which[:half][d.argmin(1)] == which[half:]).float().mean().item()


train_x, _ = sample_images(6000)
test_x, test_k = sample_images(1200)
vae = GlyphVAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)

for epoch in range(1, 41):
    vae.train()
    sums = torch.zeros(2)
    batches = torch.randperm(len(train_x)).split(100)
    for idx in batches:
        x = train_x[idx]
        logits, mu, logvar = vae(x)
        recon, kl = elbo_terms(logits, x, mu, logvar)
        loss = recon + kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums += torch.tensor([recon.item(), kl.item()])
    if epoch % 5 == 0:
        vae.eval()
        with torch.no_grad():
            logits, _, _ = vae(test_x)
        wrong = ((logits > 0).float() != test_x).float().mean()
        r, k = (sums / len(batches)).tolist()
        print(f"epoch {epoch:2d} recon {r:.4f} kl {k:.4f} test pixel error {wrong:.4f}")

print("ink share of the test images", round(test_x.mean().item(), 4))
print("glyph read from the code by nearest neighbour:", round(nearest_glyph_accuracy(vae, test_x, test_k), 3))
