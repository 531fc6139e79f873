# Character-level LSTM; the text is cut into parallel streams that are read from left to right.
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

torch.manual_seed(0)
text = (load_breast_cancer().DESCR + load_wine().DESCR + load_diabetes().DESCR).lower()
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])

BATCH, SEQ = 16, 32
n = (len(ids) - 1) // BATCH * BATCH
xs = ids[:n].view(BATCH, -1)
ys = ids[1:n + 1].view(BATCH, -1)


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=128):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, 48)
        self.lstm = nn.LSTM(48, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden), torch.zeros(1, batch, self.hidden)

    def forward(self, x, state):
        out, state = self.lstm(self.embed(x), state)
        return self.head(out), state


def sample(model, prompt, length=80):
    model.eval()
    state = model.init_hidden(1)
    out = prompt
    x = torch.tensor([[stoi[c] for c in prompt]])
    with torch.no_grad():
        for _ in range(length):
            logits, state = model(x, state)
            x = torch.multinomial(torch.softmax(logits[:, -1] / 0.7, -1), 1)
            out += chars[x.item()]
    model.train()
    return out


model = CharLSTM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(15):
    state = model.init_hidden(BATCH)
    total, steps = 0.0, 0
    for i in range(0, xs.size(1) - SEQ + 1, SEQ):
        logits, state = model(xs[:, i:i + SEQ], state)
        loss = criterion(logits.reshape(-1, len(chars)), ys[:, i:i + SEQ].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total, steps = total + loss.item(), steps + 1
    print(f"epoch {epoch + 1}: loss {total / steps:.3f}")
print(sample(model, "the "))
