"""A small GAN for the 8x8 digits."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
Z = 32

images = torch.tensor(load_digits().data, dtype=torch.float32) / 8.0 - 1.0
loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True, drop_last=True)

G = nn.Sequential(
    nn.Linear(Z, 128), nn.BatchNorm1d(128), nn.ReLU(),
    nn.Linear(128, 128), nn.BatchNorm1d(128), nn.ReLU(),
    nn.Linear(128, 64), nn.Tanh(),
)
D = nn.Sequential(
    nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Dropout(0.3),
    nn.Linear(128, 64), nn.LeakyReLU(0.2), nn.Dropout(0.3),
    nn.Linear(64, 1),
)
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

for epoch in range(60):
    d_sum = g_sum = 0.0
    for (real,) in loader:
        n = real.size(0)
        ones, zeros = torch.ones(n, 1), torch.zeros(n, 1)
        fake = G(torch.randn(n, Z)).detach()

        # discriminator: real -> 1, fake -> 0
        opt_d.zero_grad()
        d_loss = 0.5 * (bce(D(real), ones) + bce(D(fake), zeros))
        d_loss.backward()
        opt_d.step()

        # generator: make the discriminator say 1
        opt_g.zero_grad()
        g_loss = bce(D(fake), ones)
        g_loss.backward()
        opt_g.step()

        d_sum += d_loss.item()
        g_sum += g_loss.item()
    if epoch % 5 == 4:
        G.eval()
        with torch.no_grad():
            sample = G(torch.randn(500, Z))
        G.train()
        gap = (sample.mean(0) - images.mean(0)).abs().mean().item()
        print(f"epoch {epoch + 1:3d}  D {d_sum / len(loader):.3f}  G {g_sum / len(loader):.3f}  "
              f"mean image gap {gap:.3f}")

G.eval()
with torch.no_grad():
    for img in G(torch.randn(3, Z)).view(3, 8, 8):
        print("\n".join("".join(" .:*#"[int((v + 1) * 2.49)] for v in row) for row in img.tolist()))
        print("-" * 8)
