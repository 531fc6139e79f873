import torch
import torch.nn as nn

torch.manual_seed(4)
VOCAB, LEN = 16, 8


def make_codes(n):
    """1 if the first symbol of the code turns up again later, else 0"""
    x = torch.randint(0, VOCAB, (n, LEN))
    y = torch.randint(0, 2, (n,))
    for i in range(n):
        rest = x[i, 1:]
        rest[rest == x[i, 0]] = (x[i, 0] + torch.randint(1, VOCAB, (1,))) % VOCAB
        if y[i]:
            rest[torch.randint(0, LEN - 1, (1,))] = x[i, 0]
    return x, y


class CodeClassifier(nn.Module):
    def __init__(self, d=64, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(torch.randn(1, LEN, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, heads, dim_feedforward=128, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(d, 2)

    def forward(self, x):
        h = self.tok(x) + self.pos
        h = self.encoder(h)
        return self.head(h[:, 0])


x_train, y_train = make_codes(6000)
x_test, y_test = make_codes(1000)

model = CodeClassifier()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(10):
    model.train()
    perm = torch.randperm(len(x_train))
    total = 0.0
    for idx in perm.split(64):
        loss = loss_fn(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        pred = torch.cat([model(b).argmax(1) for b in x_test.split(64)])
    print(f"epoch {epoch + 1} loss {total / len(x_train):.4f} test acc {(pred == y_test).float().mean():.3f}")
