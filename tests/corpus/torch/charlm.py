import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
text = """the quick brown fox jumps over the lazy dog. pack my box with five dozen jugs.
how vexingly quick daft zebras jump. the five boxing wizards jump quickly. """ * 60
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])

# contiguous streams, one per column, as in the word language model example
BATCH, BPTT = 8, 24
n = len(data) // BATCH
stream = data[: n * BATCH].view(BATCH, n)


class CharLM(nn.Module):
    def __init__(self, vocab, emb=32, hid=96):
        super().__init__()
        self.hid = hid
        self.emb = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.head = nn.Linear(hid, vocab)

    def init_hidden(self, bs):
        return torch.zeros(1, bs, self.hid), torch.zeros(1, bs, self.hid)

    def forward(self, x, hidden):
        out, hidden = self.lstm(self.emb(x), hidden)
        return self.head(out), hidden


model = CharLM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(6):
    hidden = model.init_hidden(BATCH)
    total, steps = 0.0, 0
    for i in range(0, n - BPTT - 1, BPTT):
        x = stream[:, i:i + BPTT]
        y = stream[:, i + 1:i + BPTT + 1]
        optimizer.zero_grad()
        logits, hidden = model(x, hidden)
        loss = F.cross_entropy(logits.transpose(1, 2), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch + 1} loss {total / steps:.3f} ppl {torch.tensor(total / steps).exp():.2f}")

with torch.no_grad():
    h = model.init_hidden(1)
    c, out = torch.tensor([[stoi["t"]]]), "t"
    for _ in range(80):
        logits, h = model(c, h)
        c = logits[:, -1].argmax(-1, keepdim=True)
        out += chars[c.item()]
print(out)
