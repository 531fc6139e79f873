# Stateful GRU on a long symbol stream: at every tick, reproduce the symbol
# seen DELAY ticks ago (delay-line model for a line-monitoring unit).
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
rng = np.random.default_rng(3)

SYMBOLS, DELAY = 6, 6
STREAMS, CHUNK = 48, 24
EPOCHS = 12


def make_stream(ticks):
    x = rng.integers(0, SYMBOLS, (STREAMS, ticks))
    y = np.roll(x, DELAY, axis=1)
    y[:, :DELAY] = -100
    return torch.from_numpy(x), torch.from_numpy(y)


class DelayLine(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(SYMBOLS, 16)
        self.cell = nn.GRUCell(16, hidden)
        self.readout = nn.Linear(hidden, SYMBOLS)

    def initial(self, batch):
        return torch.zeros(batch, self.hidden)

    def forward(self, x, h):
        emb = self.embed(x)
        logits = []
        for t in range(x.size(1)):
            h = h.detach()
            h = self.cell(emb[:, t], h)
            logits.append(self.readout(h))
        return torch.stack(logits, dim=1), h


def chunks(x, y):
    for s in range(0, x.size(1) - CHUNK + 1, CHUNK):
        yield x[:, s:s + CHUNK], y[:, s:s + CHUNK]


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    h = model.initial(x.size(0))
    hit = total = 0
    for xc, yc in chunks(x, y):
        logits, h = model(xc, h)
        ok = yc != -100
        hit += (logits.argmax(-1)[ok] == yc[ok]).sum().item()
        total += ok.sum().item()
    return hit / total


train_x, train_y = make_stream(CHUNK * 40)
test_x, test_y = make_stream(CHUNK * 10)

net = DelayLine()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS)

t0 = time.time()
for epoch in range(EPOCHS):
    net.train()
    state = net.initial(STREAMS)
    running, n = 0.0, 0
    for xc, yc in chunks(train_x, train_y):
        opt.zero_grad()
        out, state = net(xc, state)
        loss = F.cross_entropy(out.reshape(-1, SYMBOLS), yc.reshape(-1), ignore_index=-100)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        state = state.detach()
        running += loss.item()
        n += 1
    sched.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {running / n:.3f}  "
              f"test acc {evaluate(net, test_x, test_y):.3f}  {time.time() - t0:.0f}s")

print(f"final test accuracy {evaluate(net, test_x, test_y):.3f} (guessing {1 / SYMBOLS:.3f})")
