"""Word-level LSTM language model on generated sentences."""
import math
import random

import torch
import torch.nn as nn

random.seed(1)
torch.manual_seed(1)

SUBJ = {"the cat": "mouse", "a dog": "bone", "my aunt": "letter", "the pilot": "plane", "our cook": "soup"}
VERB = ["finds", "loses", "paints", "wants", "forgets"]
WHEN = ["today", "at night", "on monday", "again", "every spring"]


def sentence():
    s = random.choice(list(SUBJ))
    obj = SUBJ[s] if random.random() < 0.8 else random.choice(list(SUBJ.values()))
    return f"{s} {random.choice(VERB)} the {obj} {random.choice(WHEN)} ."


words = " ".join(sentence() for _ in range(4000)).split()
itos = sorted(set(words))
stoi = {w: i for i, w in enumerate(itos)}
ids = torch.tensor([stoi[w] for w in words])
split = int(0.9 * len(ids))
train_ids, valid_ids = ids[:split], ids[split:]
SEQ, BATCH = 20, 32


class LM(nn.Module):
    def __init__(self, vocab, emb=32, hid=64):
        super().__init__()
        self.encoder = nn.Embedding(vocab, emb)
        self.drop = nn.Dropout(0.1)
        self.rnn = nn.LSTM(emb, hid, batch_first=True)
        self.decoder = nn.Linear(hid, vocab)

    def forward(self, x):
        out, _ = self.rnn(self.drop(self.encoder(x)))
        return self.decoder(self.drop(out))


def get_batch(source):
    starts = torch.randint(0, len(source) - SEQ - 1, (BATCH,))
    x = torch.stack([source[s:s + SEQ] for s in starts])
    y = torch.stack([source[s + 1:s + SEQ + 1] for s in starts])
    return x, y


model = LM(len(itos))
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(1, 401):
    model.train()
    x, y = get_batch(train_ids)
    optimizer.zero_grad()
    loss = criterion(model(x).view(-1, len(itos)), y.view(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    if step % 100 == 0:
        model.eval()
        with torch.no_grad():
            x, y = get_batch(valid_ids)
            out = model(x)
            val = criterion(out.view(-1, len(itos)), y.view(-1)).item()
            acc = (out.argmax(-1) == y).float().mean().item()
        print(f"| step {step:4d} | train {loss.item():.3f} | valid {val:.3f} | ppl {math.exp(val):.2f} | next word {acc:.3f}")

text = ["the"]
with torch.no_grad():
    for _ in range(20):
        text.append(itos[model(torch.tensor([[stoi[w] for w in text]]))[0, -1].argmax()])
print(" ".join(text))
