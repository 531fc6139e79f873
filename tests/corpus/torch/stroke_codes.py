import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SHAPES = ("disc", "square", "cross", "stripes")


def draw(kind, rng, size=16):
    yy, xx = np.mgrid[:size, :size]
    cy, cx = rng.uniform(5, 11, 2)
    r = rng.uniform(3, 5)
    if kind == 0:
        img = ((yy - cy) ** 2 + (xx - cx) ** 2) < r ** 2
    elif kind == 1:
        img = (abs(yy - cy) < r * 0.9) & (abs(xx - cx) < r * 0.9)
    elif kind == 2:
        img = ((abs(yy - cy) < 1.2) & (abs(xx - cx) < r + 1)) | ((abs(xx - cx) < 1.2) & (abs(yy - cy) < r + 1))
    else:
        img = ((yy + int(cy)) % 4 < 2) & (abs(xx - cx) < r)
    return np.clip(img * rng.uniform(0.6, 1.0) + 0.08 * rng.normal(size=(size, size)), 0, 1)


rng = np.random.default_rng(9)
torch.manual_seed(9)
labels = np.repeat(np.arange(4), 400)
images = torch.tensor(np.stack([draw(k, rng) for k in labels]), dtype=torch.float32).unsqueeze(1)
labels = torch.tensor(labels)


class Encoder(nn.Sequential):
    def __init__(self, dim=24):
        super().__init__(nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.BatchNorm2d(12), nn.ReLU(),
                         nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
                         nn.Flatten(), nn.Linear(24 * 16, dim))


class Decoder(nn.Sequential):
    def __init__(self, dim=24):
        super().__init__(nn.Linear(dim, 24 * 16), nn.ReLU(), nn.Unflatten(1, (24, 4, 4)),
                         nn.ConvTranspose2d(24, 12, 2, stride=2), nn.ReLU(),
                         nn.ConvTranspose2d(12, 1, 2, stride=2))


class Probe(nn.Module):
    def __init__(self, encoder, dim=24):
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.mlp = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, len(SHAPES)))

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return self.mlp(z)


encoder, decoder = Encoder(), Decoder()
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
bce = nn.BCEWithLogitsLoss(reduction="sum")
for epoch in range(15):
    total = 0.0
    for (x,) in DataLoader(TensorDataset(images), batch_size=32, shuffle=True):
        loss = bce(decoder(encoder(x)), x) / len(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    print(f"autoencoder {epoch}  nats per image {total / len(images):.1f}")

held = torch.arange(len(labels)) % 5 == 0
few = torch.nonzero(~held).flatten()[::3]
probe = Probe(encoder)
opt = torch.optim.Adam(probe.mlp.parameters(), lr=1e-2)
xent = nn.CrossEntropyLoss()
for epoch in range(120):
    probe.train()
    opt.zero_grad()
    loss = xent(probe(images[few]), labels[few])
    loss.backward()
    opt.step()
    if epoch % 20 == 19:
        probe.eval()
        with torch.no_grad():
            acc = (probe(images[held]).argmax(1) == labels[held]).float().mean()
        print(f"probe {epoch + 1}  loss {loss.item():.4f}  held-out accuracy {acc:.3f}  ({len(few)} labelled)")
