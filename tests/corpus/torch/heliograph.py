# Which letter did the operator send right after the attention mark?
import torch
import torch.nn as nn

torch.manual_seed(7)
LETTERS, MARK, T = 8, 8, 12


def messages(n):
    seq = torch.randint(0, LETTERS, (n, T))
    at = torch.randint(0, T - 1, (n,))
    rows = torch.arange(n)
    answer = seq[rows, at + 1].clone()
    seq[rows, at] = MARK
    return seq, answer


class Reader(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(LETTERS + 1, d)
        self.pos = nn.Parameter(torch.randn(1, T, d) * 0.5)
        layer = nn.TransformerEncoderLayer(d_model=d, nhead=4, dim_feedforward=96, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(d, LETTERS)

    def forward(self, seq):
        h = self.encoder(self.tok(seq) + self.pos)
        return self.head(h.mean(dim=1))


x_train, y_train = messages(4000)
x_val, y_val = messages(800)
model = Reader()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(12):
    model.train()
    perm = torch.randperm(len(x_train))
    total = 0.0
    for idx in perm.split(64):
        opt.zero_grad()
        loss = loss_fn(model(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(-1) == y).sum().item() for x, y in zip(x_val.split(100), y_val.split(100)))
    print(f"epoch {epoch + 1:2d}  loss {total / len(x_train):.4f}  val acc {hits / len(x_val):.3f}")
