import torch
import torch.nn as nn

torch.manual_seed(5)

# notes 0..11 plus a rest (12); four riffs are chained by a simple rule
RIFFS = [
    [0, 4, 7, 12, 7, 4, 0, 12],
    [2, 5, 9, 12, 9, 5, 2, 12],
    [4, 7, 11, 11, 7, 4, 12, 12],
    [7, 11, 2, 5, 2, 11, 7, 12],
]
NEXT = {0: [1, 2], 1: [3], 2: [0, 3], 3: [0]}


def compose(n_riffs, gen):
    r, notes = 0, []
    for _ in range(n_riffs):
        notes.extend(RIFFS[r])
        options = NEXT[r]
        r = options[int(torch.randint(len(options), (1,), generator=gen))]
    return torch.tensor(notes)


gen = torch.Generator().manual_seed(5)
train_notes = compose(2000, gen)
test_notes = compose(300, gen)

BATCH, BPTT = 10, 25


def batchify(seq, bsz):
    n = len(seq) // bsz
    return seq[: n * bsz].view(bsz, n)


class MelodyModel(nn.Module):
    def __init__(self, n_notes=13, emb=16, hid=48):
        super().__init__()
        self.emb = nn.Embedding(n_notes, emb)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, n_notes)
        self.hid = hid

    def init_state(self, bsz):
        return torch.zeros(1, bsz, self.hid), torch.zeros(1, bsz, self.hid)

    def forward(self, x, state):
        h, state = self.lstm(self.emb(x), state)
        return self.out(h), state


train_data = batchify(train_notes, BATCH)
test_data = batchify(test_notes, BATCH)
model = MelodyModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()


def run_epoch(data, train=True):
    model.train(train)
    state = model.init_state(data.size(0))
    total, correct, count = 0.0, 0, 0
    with torch.set_grad_enabled(train):
        for i in range(0, data.size(1) - 1, BPTT):
            x = data[:, i:i + BPTT]
            y = data[:, i + 1:i + 1 + BPTT]
            x = x[:, : y.size(1)]
            state = tuple(s.detach() for s in state)
            logits, state = model(x, state)
            loss = criterion(logits.reshape(-1, 13), y.reshape(-1))
            if train:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            total += loss.item() * y.numel()
            correct += (logits.argmax(-1) == y).sum().item()
            count += y.numel()
    return total / count, correct / count


for epoch in range(1, 9):
    tr_loss, tr_acc = run_epoch(train_data)
    te_loss, te_acc = run_epoch(test_data, train=False)
    print(f"epoch {epoch}: train {tr_loss:.3f}/{tr_acc:.3f}  test {te_loss:.3f}/{te_acc:.3f}")
