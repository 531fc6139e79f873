import random

import torch
import torch.nn as nn

random.seed(3)
torch.manual_seed(3)

stations = ["Aston", "Birk", "Calder", "Dunmore"]
lines = []
for _ in range(700):
    s = random.choice(stations)
    lines.append(f"train to {s} leaves at {random.randint(6, 22)}:{random.choice(['00', '15', '30', '45'])}\n")
text = "".join(lines)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])

batch_size, seq_len = 16, 32
n = len(data) // batch_size
data = data[: n * batch_size].view(batch_size, n)


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, 24)
        self.lstm = nn.LSTM(24, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, hidden=None):
        y, hidden = self.lstm(self.emb(x), hidden)
        return self.out(y), hidden


model = CharLSTM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    hidden = (torch.zeros(1, batch_size, 96), torch.zeros(1, batch_size, 96))
    losses = []
    for i in range(0, n - seq_len - 1, seq_len):
        x = data[:, i:i + seq_len]
        y = data[:, i + 1:i + seq_len + 1]
        optimizer.zero_grad()
        logits, hidden = model(x, hidden)
        loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}")

model.eval()
with torch.no_grad():
    idx, hidden, out = torch.tensor([[stoi["t"]]]), None, "t"
    for _ in range(80):
        logits, hidden = model(idx, hidden)
        idx = torch.multinomial(torch.softmax(logits[0, -1] / 0.7, -1), 1).view(1, 1)
        out += chars[idx.item()]
print(out)
