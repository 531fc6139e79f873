"""Predict churn from a customer's event history with nn.TransformerEncoder."""
import torch
import torch.nn as nn

torch.manual_seed(8)
PAD, CLS = 0, 1
GOOD = range(2, 8)       # purchases, logins, ...
BAD = range(8, 14)       # complaints, failed payments, ...
NEUTRAL = range(14, 30)
VOCAB, MAX_LEN = 30, 32


def make_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.full((n, MAX_LEN), PAD)
    labels = torch.zeros(n)
    for i in range(n):
        length = int(torch.randint(10, 28, (1,), generator=g))
        churn = int(torch.randint(2, (1,), generator=g))
        p_bad = 0.38 if churn else 0.12
        u = torch.rand(length, generator=g)
        ev = torch.randint(NEUTRAL[0], NEUTRAL[-1] + 1, (length,), generator=g)
        kind = torch.randint(0, 6, (length,), generator=g)
        ev = torch.where(u < p_bad, BAD[0] + kind, ev)
        ev = torch.where(u > 1 - (0.5 - p_bad), GOOD[0] + kind, ev)
        ids[i, 0] = CLS
        ids[i, 1:length + 1] = ev
        labels[i] = churn
    return ids, labels


class ChurnModel(nn.Module):
    def __init__(self, d=32, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(1, MAX_LEN, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, heads, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d, 1)

    def forward(self, ids):
        mask = ids == PAD
        h = self.tok(ids) + self.pos[:, : ids.size(1)]
        h = self.encoder(h, src_key_padding_mask=mask)
        return self.head(h[:, 0]).squeeze(-1)


@torch.no_grad()
def accuracy(model, ids, labels):
    model.eval()
    return ((model(ids) > 0).float() == labels).float().mean().item()


train_ids, train_y = make_data(2000, seed=1)
val_ids, val_y = make_data(500, seed=2)
model = ChurnModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(6):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train_y)).split(50):
        loss = loss_fn(model(train_ids[idx]), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch + 1}: loss {total / len(train_y):.4f}  "
          f"train acc {accuracy(model, train_ids, train_y):.3f}  val acc {accuracy(model, val_ids, val_y):.3f}")
