"""Character-level RNN language model on machine logbook lines, trained with plain SGD + BPTT."""
import math
import random
import time

import torch
import torch.nn as nn

CFG = dict(emb=32, hidden=96, layers=2, bptt=60, batch=20, lr=2.0, clip=0.25, epochs=4, seed=1)


def logbook(n_lines, seed):
    rnd = random.Random(seed)
    machines = ["lathe", "press", "mill", "saw", "oven"]
    states = {"lathe": "spinning", "press": "pumping", "mill": "grinding", "saw": "cutting", "oven": "heating"}
    out = []
    hour = 6
    for _ in range(n_lines):
        m = rnd.choice(machines)
        k = rnd.randint(1, 4)
        kind = rnd.random()
        if kind < 0.5:
            out.append(f"{hour:02d}h {m}{k} {states[m]} ok")
        elif kind < 0.8:
            out.append(f"{hour:02d}h {m}{k} stopped, call crew {k} for {m}")
        else:
            out.append(f"{hour:02d}h {m}{k} idle {'.' * rnd.randint(2, 6)} restart {m}{k}")
        hour = (hour + 1) % 24
    return "\n".join(out) + "\n"


def batchify(ids, bsz):
    n = ids.numel() // bsz
    return ids[: n * bsz].view(bsz, n).t().contiguous()


class CharRNN(nn.Module):
    def __init__(self, vocab, emb, hidden, layers):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.RNN(emb, hidden, layers, nonlinearity="tanh")
        self.dec = nn.Linear(hidden, vocab)
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)
        nn.init.zeros_(self.dec.bias)
        nn.init.uniform_(self.dec.weight, -0.1, 0.1)
        for layer in range(layers):
            nn.init.orthogonal_(getattr(self.rnn, f"weight_hh_l{layer}"))

    def forward(self, x, h):
        out, h = self.rnn(self.emb(x), h)
        return self.dec(out), h


def run_epoch(model, data, loss_fn, optimizer=None):
    training = optimizer is not None
    model.train(training)
    h, total, count = None, 0.0, 0
    for i in range(0, data.size(0) - 1, CFG["bptt"]):
        n = min(CFG["bptt"], data.size(0) - 1 - i)
        x, y = data[i:i + n], data[i + 1:i + 1 + n].reshape(-1)
        with torch.set_grad_enabled(training):
            logits, h = model(x, h)
            loss = loss_fn(logits.view(-1, logits.size(-1)), y)
        h = h.detach()
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            nn.utils.clip_grad_norm_(model.parameters(), CFG["clip"])
        total += loss.item() * n
        count += n
    return total / count


def main():
    torch.manual_seed(CFG["seed"])
    train_txt, valid_txt = logbook(7000, 1), logbook(600, 2)
    chars = sorted(set(train_txt))
    stoi = {c: i for i, c in enumerate(chars)}
    encode = lambda s: torch.tensor([stoi[c] for c in s])
    train, valid = batchify(encode(train_txt), CFG["batch"]), batchify(encode(valid_txt), CFG["batch"])
    counts = torch.bincount(encode(train_txt), minlength=len(chars)).float()
    unigram = -(counts / counts.sum()).log()[encode(valid_txt)].mean().item()

    model = CharRNN(len(chars), CFG["emb"], CFG["hidden"], CFG["layers"])
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=CFG["lr"])
    best = float("inf")
    for epoch in range(1, CFG["epochs"] + 1):
        t0 = time.time()
        tr = run_epoch(model, train, loss_fn, opt)
        va = run_epoch(model, valid, loss_fn)
        if va < best:
            best = va
        else:
            for g in opt.param_groups:
                g["lr"] /= 4
        print(f"| epoch {epoch} | {time.time() - t0:4.1f}s | train {tr:.4g} | valid {va:.4g} "
              f"| ppl {math.exp(min(va, 50)):.4g}")
    print(f"final valid loss {va:.4g} nats/char (unigram {unigram:.3f})")


if __name__ == "__main__":
    main()
