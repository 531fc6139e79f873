"""Stateful LSTM over long parallel streams, read in order, with truncated back-propagation."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
STREAMS, LENGTH, CHUNK = 16, 4000, 40

# A hidden regime flips rarely; a brief pulse announces it, then only the carried state can know it.
obs = rng.normal(0, 1, (STREAMS, LENGTH)).astype("float32")
pulse = np.zeros((STREAMS, LENGTH), dtype="float32")
regime = np.ones((STREAMS, LENGTH), dtype="float32")
for s in range(STREAMS):
    r = 1.0
    for t in range(LENGTH):
        if rng.random() < 0.015:
            r = rng.choice([-1.0, 1.0])
            pulse[s, t] = r
        regime[s, t] = r
target = torch.tensor(regime + 0.3 * obs)[..., None]
inputs = torch.tensor(np.stack([obs, pulse], -1))


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 48, batch_first=True)
        self.out = nn.Linear(48, 1)

    def forward(self, x, state):
        h, state = self.rnn(x, state)
        return self.out(h), state


net = Stream()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
split = 3200
for ep in range(40):
    state, run, k = None, 0.0, 0
    net.train()
    for t in range(0, split, CHUNK):
        p, state = net(inputs[:, t:t + CHUNK], state)
        state = tuple(z.detach() for z in state)
        loss = (p - target[:, t:t + CHUNK]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        run, k = run + loss.item(), k + 1
    net.eval()
    with torch.no_grad():
        p, _ = net(inputs[:, split:], state)
        v = (p - target[:, split:]).pow(2).mean().item()
    print(f"ep {ep} train {run / k:.4f} val {v:.4f}")
