import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine

torch.manual_seed(0)
text = "\n".join(f().DESCR for f in (load_digits, load_breast_cancer, load_iris, load_linnerud, load_diabetes, load_wine))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])
cut = int(0.88 * len(ids))
B, BPTT = 10, 40


def batchify(seq, bsz):
    n = len(seq) // bsz
    return seq[:n * bsz].view(bsz, n).t().contiguous()


train, val = batchify(ids[:cut], B), batchify(ids[cut:], 1)
print(len(text), "characters,", len(chars), "symbols")


class CharLM(nn.Module):
    def __init__(self, v, d=96):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.emb = nn.Embedding(v, d)
        self.rnn = nn.LSTM(d, d)
        self.dec = nn.Linear(d, v)
        self.dec.weight = self.emb.weight
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)

    def forward(self, x, state):
        h, state = self.rnn(self.drop(self.emb(x)), state)
        return self.dec(self.drop(h)), state


model = CharLM(len(chars))
opt = torch.optim.SGD(model.parameters(), lr=5.0)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.25, patience=1)
loss_sum = nn.CrossEntropyLoss(reduction="sum")


def run(data, training):
    model.train(training)
    state, total, count = None, 0.0, 0
    for i in range(0, len(data) - 1, BPTT):
        x = data[i:i + BPTT][:len(data) - 1 - i]
        y = data[i + 1:i + 1 + len(x)]
        if state is not None:
            state = tuple(s.detach() for s in state)
        with torch.set_grad_enabled(training):
            logits, state = model(x, state)
            loss = loss_sum(logits.flatten(0, 1), y.flatten())
        if training:
            opt.zero_grad()
            (loss / y.numel()).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            opt.step()
        total, count = total + loss.item(), count + y.numel()
    return total / count


for epoch in range(1, 31):
    tr = run(train, True)
    va = run(val, False)
    sched.step(va)
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} | train {tr:.3f} | val {va:.3f} | lr {opt.param_groups[0]['lr']:g}")
