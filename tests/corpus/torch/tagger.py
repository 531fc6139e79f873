# Tagging ambiguous names (person / place) in short windows of text.
import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

rng = np.random.default_rng(3)
torch.manual_seed(3)

TITLES, PREPS = ["mr", "dr", "lady"], ["in", "near", "from"]
NAMES = ["jordan", "paris", "sydney", "florence", "lincoln", "austin"]
OTHER = ["walked", "saw", "house", "yesterday", "and", "then", "we", "red", "late", "they", "went", "quickly"]
words = TITLES + PREPS + NAMES + OTHER
stoi = {w: i for i, w in enumerate(words)}
TAGS = {"O": 0, "PER": 1, "LOC": 2}


def window(n=12):
    toks, tags = [], []
    while len(toks) < n:
        if rng.random() < 0.35:
            person = rng.random() < 0.5
            toks += [rng.choice(TITLES if person else PREPS), rng.choice(NAMES)]
            tags += ["O", "PER" if person else "LOC"]
        else:
            toks.append(rng.choice(OTHER))
            tags.append("O")
    return [stoi[t] for t in toks[:n]], [TAGS[t] for t in tags[:n]]


def build(n):
    xs, ys = zip(*[window() for _ in range(n)])
    return TensorDataset(torch.tensor(xs), torch.tensor(ys))


class Tagger(nn.Module):
    def __init__(self, vocab, d=48, n_tags=3):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(12, d)
        layer = nn.TransformerEncoderLayer(d_model=d, nhead=4, dim_feedforward=96, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.out = nn.Linear(d, n_tags)

    def forward(self, x):
        return self.out(self.encoder(self.emb(x) + self.pos(torch.arange(x.size(1)))))


train_dl = DataLoader(build(2400), batch_size=32, shuffle=True)
dev_dl = DataLoader(build(400), batch_size=32)
model = Tagger(len(words))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    losses = []
    for x, y in train_dl:
        loss = loss_fn(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for x, y in dev_dl:
            pred = model(x).argmax(-1)
            names = y > 0
            hit += (pred[names] == y[names]).sum().item()
            n += names.sum().item()
    print(f"epoch {epoch}  loss {np.mean(losses):.3f}  accuracy on names {hit / n:.3f}")
