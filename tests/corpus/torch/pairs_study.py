"""SimCLR-style representation learning on the 8x8 digits, checked with a nearest-neighbour classifier."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
images = torch.tensor(X / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
loader = DataLoader(TensorDataset(images, torch.tensor(y)), batch_size=128, shuffle=True)


def augment(x):
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, (dy, dx), dims=(2, 3))
    x = x * (torch.rand_like(x) > 0.15)
    return x + 0.1 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.Flatten(), nn.Linear(64 * 16, dim))
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(dim, 32))

    def forward(self, x):
        h = self.conv(x)
        return h, F.normalize(self.proj(h), dim=1)


def nt_xent(z1, z2, tau=0.3):
    z = torch.cat([z1, z2])
    sim = z @ z.t() / tau
    sim.fill_diagonal_(-1e9)
    n = len(z1)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


@torch.no_grad()
def embed(model, loader):
    model.eval()
    return torch.cat([model(x)[0] for x, _ in loader]).numpy()


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(12):
    model.train()
    running = 0.0
    for x, _ in loader:
        _, z1 = model(augment(x))
        _, z2 = model(augment(x))
        loss = nt_xent(z1, z2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch + 1:2d}  contrastive loss {running / len(loader):.3f}")

features = embed(model, loader)
labels = torch.cat([t for _, t in loader]).numpy()
scores = cross_val_score(KNeighborsClassifier(5), features, labels, cv=5)
print("kNN accuracy on the embeddings: %.3f (+- %.3f)" % (scores.mean(), scores.std()))
