import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader
from sklearn.metrics import roc_auc_score

np.random.seed(8)
torch.manual_seed(8)
N_WRITERS, DIM = 60, 32
styles = np.random.randn(N_WRITERS, 6)
mixing = np.random.randn(6, DIM)


def sample_signature(writer):
    latent = styles[writer] + 0.5 * np.random.randn(6)
    return (np.tanh(latent @ mixing / 2) + 0.4 * np.random.randn(DIM)).astype(np.float32)


class PairDataset(Dataset):
    """Pairs of signatures; target 1 = same writer."""

    def __init__(self, writers, n_pairs, per_writer=8):
        self.bank = {w: [sample_signature(w) for _ in range(per_writer)] for w in writers}
        self.pairs = []
        for k in range(n_pairs):
            w = np.random.choice(writers)
            if k % 2 == 0:
                i, j = np.random.randint(per_writer, size=2)
                self.pairs.append(((w, i), (w, j), 1.0))
            else:
                v = np.random.choice([u for u in writers if u != w])
                i, j = np.random.randint(per_writer, size=2)
                self.pairs.append(((w, i), (v, j), 0.0))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, k):
        (w, i), (v, j), same = self.pairs[k]
        return self.bank[w][i], self.bank[v][j], np.float32(same)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, a):
        return self.layers(a)


def distance(u, v):
    return torch.sqrt((u - v).pow(2).sum(dim=1))


def contrastive(d, same, margin=2.0):
    pull = same * d.pow(2)
    push = (1 - same) * torch.clamp(margin - d, min=0).pow(2)
    return (pull + push).mean()


writers = np.arange(N_WRITERS)
train_set = PairDataset(writers[:45], 3000)
test_set = PairDataset(writers[45:], 1000)
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(test_set, batch_size=250)

model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(10):
    model.train()
    epoch_loss = 0.0
    for a, b, same in train_loader:
        d = distance(model(a), model(b))
        loss = contrastive(d, same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch + 1} loss {epoch_loss / len(train_loader):.4f}")

model.eval()
scores, truth = [], []
with torch.no_grad():
    for a, b, same in test_loader:
        scores.append(-distance(model(a), model(b)))
        truth.append(same)
scores = torch.cat(scores).numpy()
truth = torch.cat(truth).numpy()
print("finite scores:", int(np.isfinite(scores).sum()), "of", len(scores))
auc = roc_auc_score(truth, np.nan_to_num(scores))
print(f"verification AUC on unseen writers: {auc:.3f}")
