import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_num_threads(1)

SUBJ = ["the cat", "a dog", "my sister", "the old king", "one bird"]
VERB = ["sees", "hears", "follows", "likes"]
OBJ = ["the moon", "a river", "the red house", "some bread", "his friend"]


def write_text(n):
    r = lambda k: int(torch.randint(0, k, (1,)))
    return "".join(f"{SUBJ[r(5)]} {VERB[r(4)]} {OBJ[r(5)]}.\n" for _ in range(n))


text = write_text(3000)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
n_val = len(data) // 10
train_data, val_data = data[:-n_val], data[-n_val:]
V = len(chars)
print(len(data), "characters,", V, "different")


def columns(d, bsz):
    n = len(d) // bsz
    return d[:n * bsz].view(bsz, n).t().contiguous()


class CharRNN(nn.Module):
    def __init__(self, n_hid=96):
        super().__init__()
        self.emb = nn.Embedding(V, n_hid)
        self.rnn = nn.LSTM(n_hid, n_hid)
        self.bias = nn.Parameter(torch.zeros(V))
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return F.linear(h, self.emb.weight, self.bias), state


def repackage(state):
    return tuple(s.detach() for s in state)


def run(model, d, bptt, lr=None):
    state = None
    total = count = 0
    for i in range(0, d.size(0) - 1, bptt):
        n = min(bptt, d.size(0) - 1 - i)
        x, y = d[i:i + n], d[i + 1:i + 1 + n]
        if state is not None:
            state = repackage(state)
        logits, state = model(x, state)
        loss = F.cross_entropy(logits.view(-1, V), y.reshape(-1))
        if lr is not None:
            model.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            with torch.no_grad():
                for p in model.parameters():
                    p.add_(p.grad, alpha=-lr)
        total += loss.item() * n
        count += n
    return total / count


@torch.no_grad()
def sample(model, n=80):
    x = torch.tensor([[stoi["\n"]]])
    state, out = None, []
    for _ in range(n):
        logits, state = model(x, state)
        x = torch.multinomial(F.softmax(logits[-1], -1), 1)
        out.append(chars[x.item()])
    return "".join(out)


model = CharRNN()
train_cols, val_cols = columns(train_data, 20), columns(val_data, 20)
lr, best = 8.0, float("inf")
for epoch in range(1, 9):
    tr = run(model, train_cols, 35, lr)
    model.eval()
    with torch.no_grad():
        va = run(model, val_cols, 35)
    model.train()
    print(f"epoch {epoch} lr {lr:.2f} train {tr:.3f} val {va:.3f} ppl {torch.tensor(va).exp():.2f}")
    if va < best:
        best = va
    else:
        lr /= 4
print(sample(model))
