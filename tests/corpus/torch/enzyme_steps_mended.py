"""Tell whether step A of a pathway comes before step B in a recorded run."""
import math
import torch
import torch.nn as nn

torch.manual_seed(21)
VOCAB, LENGTH, DIM = 20, 24, 48
A, B = 1, 2


def make(n):
    x = torch.randint(3, VOCAB, (n, LENGTH))
    pos = torch.stack([torch.randperm(LENGTH)[:2] for _ in range(n)])
    rows = torch.arange(n)
    x[rows, pos[:, 0]] = A
    x[rows, pos[:, 1]] = B
    return x, (pos[:, 0] < pos[:, 1]).long()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=256, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div)
        pe[:, 0, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[: x.size(1)].transpose(0, 1)
        return self.drop(x)


class RunClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.pos = PositionalEncoding(DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(DIM)
        self.out = nn.Linear(DIM, 2)

    def forward(self, ids):
        h = self.enc(self.pos(self.embed(ids)))
        return self.out(self.norm(h).mean(dim=1))


def evaluate(model, x, y):
    model.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in zip(x.split(64), y.split(64)):
            hits += (model(xb).argmax(-1) == yb).sum().item()
    return hits / len(x)


def main():
    xtr, ytr = make(4096)
    xte, yte = make(1024)
    model = RunClassifier()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(12):
        model.train()
        seen = 0.0
        for idx in torch.randperm(len(xtr)).split(64):
            opt.zero_grad()
            loss = loss_fn(model(xtr[idx]), ytr[idx])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            seen += loss.item() * len(idx)
        print(f"epoch {epoch + 1:2d} loss {seen / len(xtr):.4f} test acc {evaluate(model, xte, yte):.3f}")


if __name__ == "__main__":
    main()
