# Hand gesture recognition from a wrist band: 6 channels, 48 samples per window.
# A gesture is three short movements (flick / twist / push) done in some order;
# the class is the order, so there are 3! = 6 classes.
import itertools
import math
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)

T, CH = 48, 6
ORDERS = list(itertools.permutations(range(3)))


def make_windows(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, len(ORDERS), (n,), generator=g)
    x = 0.25 * torch.randn(n, T, CH, generator=g)
    t = torch.arange(T).float()
    for i in range(n):
        start = 3 + 6 * torch.rand(1, generator=g)
        for slot, move in enumerate(ORDERS[y[i]]):
            centre = start + slot * 14 + 4 * torch.rand(1, generator=g)
            amp = 1.2 + 0.6 * torch.rand(1, generator=g)
            bump = amp * torch.exp(-0.5 * ((t - centre) / 2.2) ** 2)
            x[i, :, 2 * move] += bump
            x[i, :, 2 * move + 1] -= 0.7 * bump
    return x, y


class PositionalEncoding(nn.Module):

    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[:x.size(0)]
        return self.dropout(x)


class GestureTransformer(nn.Module):
    def __init__(self, n_classes, d_model=48, heads=4, layers=2):
        super().__init__()
        self.inp = nn.Linear(CH, d_model)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, heads, dim_feedforward=96, dropout=0.1,
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, n_classes)

    def forward(self, x):
        h = self.inp(x) * 2.0
        h = self.encoder(self.pos(h))
        return self.out(self.norm(h.mean(dim=1)))


def accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for xb, yb in loader:
            right += (model(xb).argmax(-1) == yb).sum().item()
            total += len(yb)
    return right / total


if __name__ == "__main__":
    x_tr, y_tr = make_windows(1500, seed=0)
    x_va, y_va = make_windows(400, seed=1)
    mu, sd = x_tr.mean((0, 1)), x_tr.std((0, 1))
    x_tr, x_va = (x_tr - mu) / sd, (x_va - mu) / sd
    train = DataLoader(TensorDataset(x_tr, y_tr), batch_size=50, shuffle=True)
    valid = DataLoader(TensorDataset(x_va, y_va), batch_size=50)

    net = GestureTransformer(len(ORDERS))
    print("parameters:", sum(p.numel() for p in net.parameters()))
    optim = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.01)
    n_epochs = 6
    sched = torch.optim.lr_scheduler.OneCycleLR(optim, max_lr=2e-3, total_steps=n_epochs * len(train))
    loss_fn = nn.CrossEntropyLoss()

    t0 = time.time()
    for ep in range(n_epochs):
        net.train()
        running = 0.0
        for xb, yb in train:
            optim.zero_grad(set_to_none=True)
            loss = loss_fn(net(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optim.step()
            sched.step()
            running += loss.item()
        print(f"[{time.time() - t0:5.1f}s] epoch {ep:2d} loss {running / len(train):.4f} "
              f"valid acc {accuracy(net, valid):.3f}")
    print(f"valid accuracy {accuracy(net, valid):.3f}   (chance {1 / len(ORDERS):.3f})")
