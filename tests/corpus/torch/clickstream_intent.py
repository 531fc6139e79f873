"""
Purchase intent from shop sessions.

A session is a variable-length list of events. It ends in a purchase if the shopper
put something in the cart and did not remove it again later.
"""
import math

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, TensorDataset

EVENTS = ["<pad>", "<cls>", "home", "search", "list", "item", "review", "cart_add",
          "cart_remove", "wishlist", "help", "logout"]
EV = {name: i for i, name in enumerate(EVENTS)}
MAX_LEN = 24
cfg = dict(d_model=32, heads=4, layers=2, epochs=7, batch=64, lr=2e-3, seed=5)


def simulate_session(rng):
    n = rng.integers(5, MAX_LEN - 4)
    events = rng.choice(["home", "search", "list", "item", "review", "wishlist", "help", "logout"],
                        size=n, p=[.1, .2, .2, .25, .1, .06, .05, .04]).tolist()
    kind = rng.integers(0, 4)
    i, j = sorted(rng.choice(n, 2, replace=False))
    if kind == 1:
        events[i] = "cart_add"
    elif kind == 2:
        events[i], events[j] = "cart_add", "cart_remove"
    elif kind == 3:
        events[i], events[j] = "cart_remove", "cart_add"
    bought = int(kind in (1, 3))
    return [EV["<cls>"]] + [EV[e] for e in events], bought


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    pairs = [simulate_session(rng) for _ in range(n)]
    seqs = [torch.tensor(s) for s, _ in pairs] + [torch.zeros(MAX_LEN, dtype=torch.long)]
    x = pad_sequence(seqs, batch_first=True, padding_value=EV["<pad>"])[:-1]
    y = torch.tensor([b for _, b in pairs], dtype=torch.float32)
    return TensorDataset(x, y)


class PositionalEncoding(nn.Module):
    def __init__(self, d, max_len):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(max_len, d)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class IntentModel(nn.Module):
    def __init__(self, d_model, heads, layers):
        super().__init__()
        self.embed = nn.Embedding(len(EVENTS), d_model, padding_idx=EV["<pad>"])
        self.pos = PositionalEncoding(d_model, MAX_LEN)
        layer = nn.TransformerEncoderLayer(d_model, heads, 2 * d_model, dropout=0.1,
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(d_model),
                                             enable_nested_tensor=False)
        self.head = nn.Linear(d_model, 1)

    def forward(self, tokens):
        padding = tokens != EV["<pad>"]
        h = self.pos(self.embed(tokens))
        h = self.encoder(h, src_key_padding_mask=padding)
        return self.head(h[:, 0]).squeeze(-1)


def run_epoch(model, loader, loss_fn, optimizer=None):
    model.train(optimizer is not None)
    loss_sum, correct, count = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for tokens, target in loader:
            logits = model(tokens)
            loss = loss_fn(logits, target)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            loss_sum += loss.item() * len(target)
            correct += ((logits > 0).float() == target).sum().item()
            count += len(target)
    return loss_sum / count, correct / count


torch.manual_seed(cfg["seed"])
train_set, test_set = make_split(2500, 10), make_split(600, 11)
train_loader = DataLoader(train_set, cfg["batch"], shuffle=True)
test_loader = DataLoader(test_set, 200)

model = IntentModel(cfg["d_model"], cfg["heads"], cfg["layers"])
optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(1, cfg["epochs"] + 1):
    tr_loss, tr_acc = run_epoch(model, train_loader, loss_fn, optimizer)
    print(f"[{epoch:02d}] train loss {tr_loss:.4f} acc {tr_acc:.3f}")

te_loss, te_acc = run_epoch(model, test_loader, loss_fn)
rate = test_set.tensors[1].mean().item()
print(f"majority accuracy {max(rate, 1 - rate):.3f}")
print(f"test loss {te_loss:.4f} accuracy {te_acc:.3f}")
