import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(5)
digits = load_digits()
x = torch.tensor(digits.images / 16.0, dtype=torch.float32).flatten(1)
y = torch.tensor(digits.target)
x_train, y_train, x_test, y_test = x[:1400], y[:1400], x[1400:], y[1400:]
by_class = [torch.where(y_train == k)[0] for k in range(10)]


def sample_pairs(n):
    a, b, same = [], [], []
    for _ in range(n):
        k = torch.randint(10, (1,)).item()
        i = by_class[k][torch.randint(len(by_class[k]), (1,))]
        if torch.rand(1) < 0.5:
            j = by_class[k][torch.randint(len(by_class[k]), (1,))]
            same.append(1.0)
        else:
            other = (k + torch.randint(1, 10, (1,)).item()) % 10
            j = by_class[other][torch.randint(len(by_class[other]), (1,))]
            same.append(0.0)
        a.append(i)
        b.append(j)
    return x_train[torch.cat(a)], x_train[torch.cat(b)], torch.tensor(same)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 16))

    def forward(self, x):
        return self.layers(x)


def contrastive_loss(za, zb, same, margin=1.0):
    dist = torch.sqrt(((za - zb) ** 2).sum(1))
    return (same * dist ** 2 + (1 - same) * torch.clamp(margin - dist, min=0) ** 2).mean()


model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(301):
    a, b, same = sample_pairs(64)
    loss = contrastive_loss(model(a), model(b), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("step", step, "loss", loss.item())

model.eval()
with torch.no_grad():
    gallery, queries = model(x_train), model(x_test)
    nearest = torch.cdist(queries, gallery).argmin(1)
    print("1-NN accuracy:", (y_train[nearest] == y_test).float().mean().item())
