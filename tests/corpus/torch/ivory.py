# Embeddings of handwritten digits, batch-hard triplets, nearest neighbour evaluation
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(11)
data = load_digits()
X = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16.0
y = torch.tensor(data.target)
perm = torch.randperm(len(X))
X, y = X[perm], y[perm]
Xtr, ytr, Xte, yte = X[:1300], y[:1300], X[1300:], y[1300:]
by_class = [torch.where(ytr == c)[0] for c in range(10)]


def pk_batches(n_batches, p=8, k=6):
    """P classes, K pictures of each."""
    for _ in range(n_batches):
        classes = torch.randperm(10)[:p]
        idx = torch.cat([by_class[c][torch.randperm(len(by_class[c]))[:k]] for c in classes.tolist()])
        yield Xtr[idx], ytr[idx]


def pairwise_distances(e):
    diff = e.unsqueeze(1) - e.unsqueeze(0)
    return diff.pow(2).sum(-1).sqrt()


def batch_hard_triplet(e, labels, margin=0.5):
    d = pairwise_distances(e)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    hardest_pos = (d * same).max(dim=1).values
    hardest_neg = (d + 1e4 * same).min(dim=1).values
    return torch.relu(hardest_pos - hardest_neg + margin).mean()


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 4, dim),
        )

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=-1)


@torch.no_grad()
def nn_accuracy(model):
    model.eval()
    ref, qry = model(Xtr), model(Xte)
    nearest = (qry @ ref.T).argmax(dim=1)
    return (ytr[nearest] == yte).float().mean().item()


model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    model.train()
    losses = []
    for xb, yb in pk_batches(60):
        loss = batch_hard_triplet(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: triplet {sum(losses) / len(losses):.4f}, 1-NN accuracy {nn_accuracy(model):.3f}")
