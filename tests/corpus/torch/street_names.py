"""Character GRU telling the language of a made-up street name. Micro-batches of unequal size are accumulated:
summed losses are divided by the number of names in the whole logical batch."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

random.seed(12)
torch.manual_seed(12)
SYL = {
    "de": ["stra", "berg", "hof", "wein", "gar", "ten", "lin", "den"],
    "it": ["via", "del", "la", "ro", "sa", "pon", "te", "no"],
    "pl": ["ul", "nowa", "kra", "kow", "ska", "wie", "lka", "szcz"],
}
LANGS = sorted(SYL)
ALPHA = {c: i for i, c in enumerate(sorted(set("".join(sum(SYL.values(), [])))))}


def name():
    k = random.randrange(3)
    parts = [random.choice(SYL[LANGS[k]] if random.random() < 0.75 else SYL[random.choice(LANGS)])
             for _ in range(random.randint(2, 6))]
    return torch.tensor([ALPHA[c] for c in "".join(parts)]), k


class NameGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHA), 24)
        self.rnn = nn.GRU(24, 48)
        self.out = nn.Linear(48, 3)

    def forward(self, seqs):
        packed = pack_sequence([self.emb(s) for s in seqs], enforce_sorted=False)
        _, h = self.rnn(packed)
        return self.out(h[-1])


def micro_batches(names, max_chars=160):
    part, chars = [], 0
    for s, k in names:
        if part and chars + len(s) > max_chars:
            yield part
            part, chars = [], 0
        part.append((s, k))
        chars += len(s)
    yield part


train, test = [name() for _ in range(2500)], [name() for _ in range(600)]
net = NameGRU()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
LOGICAL = 50
for epoch in range(5):
    net.train()
    random.shuffle(train)
    seen = 0.0
    for k in range(0, len(train), LOGICAL):
        logical = train[k:k + LOGICAL]
        opt.zero_grad()
        for part in micro_batches(logical):
            seqs, y = zip(*part)
            loss = nn.functional.cross_entropy(net(seqs), torch.tensor(y), reduction="sum") / len(logical)
            loss.backward()
            seen += loss.item() * len(logical)
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
    net.eval()
    with torch.no_grad():
        seqs, y = zip(*test)
        acc = (net(seqs).argmax(1) == torch.tensor(y)).float().mean().item()
    print(f"epoch {epoch} loss {seen / len(train):.4f} test {acc:.3f}")
