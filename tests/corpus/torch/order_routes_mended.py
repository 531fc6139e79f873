# %% imports and settings
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(5)
rng = np.random.default_rng(5)

STATES = ["created", "paid", "picked", "packed", "held", "shipped", "returned", "call", "mail", "refund", "closed", "none"]
LEN = 20
IDX = {s: i for i, s in enumerate(STATES)}

# %% synthetic order histories; an order turns out late when a "held" comes
# before the "paid", and disputed when a "call" follows a "returned"


def history():
    seq = rng.integers(0, len(STATES), LEN)
    seq[seq == IDX["held"]] = IDX["none"]
    seq[seq == IDX["paid"]] = IDX["none"]
    seq[seq == IDX["returned"]] = IDX["none"]
    seq[seq == IDX["call"]] = IDX["mail"]
    a, b, c, d = rng.choice(LEN, 4, replace=False)
    seq[a], seq[b] = IDX["held"], IDX["paid"]
    seq[c], seq[d] = IDX["returned"], IDX["call"]
    return seq, int(a < b) + 2 * int(c < d)


pairs = [history() for _ in range(6000)]
x = torch.tensor(np.stack([p[0] for p in pairs]))
y = torch.tensor([p[1] for p in pairs])
train_dl = DataLoader(TensorDataset(x[:5000], y[:5000]), batch_size=50, shuffle=True)
valid_dl = DataLoader(TensorDataset(x[5000:], y[5000:]), batch_size=50)

# %% model


class RouteClassifier(nn.Module):
    def __init__(self, vocab, emb=24, hidden=64, classes=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, num_layers=1, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, tokens):
        e = self.emb(tokens)
        out, _ = self.rnn(e)
        pooled = out.max(dim=1).values
        return self.head(self.drop(pooled))


model = RouteClassifier(len(STATES))
print("parameters:", sum(p.numel() for p in model.parameters()))

# %% training
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()
history_log = []
for epoch in range(1, 13):
    model.train()
    losses = []
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    right = 0
    with torch.no_grad():
        for xb, yb in valid_dl:
            right += (model(xb).argmax(-1) == yb).sum().item()
    history_log.append((np.mean(losses), right / 1000))
    print(f"epoch {epoch:2d}  loss {history_log[-1][0]:.4f}  valid acc {history_log[-1][1]:.3f}")

# %% summary
best = max(a for _, a in history_log)
print(f"best validation accuracy: {best:.3f}")
