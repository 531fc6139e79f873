import random

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader

random.seed(23)
torch.manual_seed(23)

TAGS = ["O", "HOST", "USER", "PORT", "FILE"]
HOSTS = [f"{a}-{i:02d}" for a in ("db", "web", "cache", "auth") for i in range(15)]
USERS = "anna bob carol deniz erik fatma goran hana ivo jana".split()
FILES = [f"/var/{a}/{b}" for a in ("log", "spool", "lib") for b in ("out", "queue", "state", "x.conf")]
NUMS = [str(n) for n in range(1000, 1080)]
SHARED = ["root", "backup", "proxy", "mail"]


def pick(kind):
    if kind in ("HOST", "USER") and random.random() < 0.5:
        return random.choice(SHARED)
    return random.choice({"HOST": HOSTS, "USER": USERS, "PORT": NUMS, "FILE": FILES}[kind])


TEMPLATES = [
    "login of {USER} on {HOST} port {PORT} ok",
    "{HOST} refused {USER} after NUM tries",
    "{USER} removed {FILE} NUM bytes freed",
    "sync {HOST} to {HOST} via {PORT} took NUM ms",
    "process NUM on {HOST} opened {FILE} for {USER}",
    "{FILE} locked by {USER} since NUM seconds",
]


def line():
    tokens, tags = [], []
    for w in random.choice(TEMPLATES).split():
        if w == "NUM":
            tokens.append(random.choice(NUMS)), tags.append(0)
        elif w.startswith("{"):
            tokens.append(pick(w[1:-1])), tags.append(TAGS.index(w[1:-1]))
        else:
            tokens.append(w), tags.append(0)
    return tokens, tags


train_lines, test_lines = [line() for _ in range(2500)], [line() for _ in range(600)]
vocab = {"<pad>": 0, "<unk>": 1}
for toks, _ in train_lines:
    for w in toks:
        vocab.setdefault(w, len(vocab))


def collate(batch):
    width = max(len(t) for t, _ in batch)
    ids, tags = torch.zeros(len(batch), width, dtype=torch.long), torch.full((len(batch), width), -100)
    for i, (t, g) in enumerate(batch):
        ids[i, :len(t)] = torch.tensor([vocab.get(w, 1) for w in t])
        tags[i, :len(g)] = torch.tensor(g)
    return ids, tags


class Tagger(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), d_model, padding_idx=0)
        self.pos = nn.Embedding(64, d_model)
        layer = nn.TransformerEncoderLayer(d_model, 4, 4 * d_model, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d_model, len(TAGS))

    def forward(self, ids):
        x = self.emb(ids) + self.pos(torch.arange(ids.size(1)))
        return self.out(self.enc(x, src_key_padding_mask=ids == 0))


D_MODEL, WARMUP, EPOCHS = 64, 100, 4


def noam(step):
    step = max(step, 1)
    return D_MODEL ** -0.5 * min(step ** -0.5, step * WARMUP ** -1.5)


model = Tagger(D_MODEL)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = LambdaLR(optimizer, noam)
criterion = nn.CrossEntropyLoss(ignore_index=-100)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    loader = DataLoader(train_lines, batch_size=64, shuffle=True, collate_fn=collate)
    for ids, tags in loader:
        optimizer.zero_grad()
        loss = criterion(model(ids).transpose(1, 2), tags)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / len(loader):.4f}")

model.eval()
with torch.no_grad():
    ids, tags = collate(test_lines)
    pred = model(ids).argmax(-1)
entity = tags > 0
print(f"token accuracy {(pred == tags)[tags >= 0].float().mean():.4f}, "
      f"entity recall {(pred == tags)[entity].float().mean():.4f}, "
      f"share of O {(tags == 0).sum() / (tags >= 0).sum():.4f}")
