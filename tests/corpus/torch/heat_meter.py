"""Stateful LSTM over 16 parallel heat-meter streams. Chunks go in order of time (never shuffled) and the state
is carried on, cut from the graph, so that the slow valve state (longer than a chunk) can be followed."""
import numpy as np
import torch
from torch import nn

STREAMS, STEPS, CHUNK = 16, 9600, 40


def meters(seed):
    rng = np.random.default_rng(seed)
    toggle = rng.random((STREAMS, STEPS)) < 0.012            # someone turns the valve
    valve = np.cumsum(toggle, 1) % 2                         # open / shut, not seen
    signal = toggle * (2 * valve - 1)                        # +1 at opening, -1 at shutting, else 0
    outside = np.cumsum(rng.normal(0, 0.1, (STREAMS, STEPS)), 1)
    outside = np.tanh(outside / 3)
    heat = valve * (1.0 - outside) + 0.05 * rng.normal(size=(STREAMS, STEPS))
    x = np.stack([signal, outside], -1).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(heat.astype(np.float32))


class HeatLSTM(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h).squeeze(-1), state


def sweep(net, x, y, opt=None):
    state, losses = None, []
    net.train(opt is not None)
    for t in range(0, STEPS, CHUNK):
        with torch.set_grad_enabled(opt is not None):
            pred, state = net(x[:, t:t + CHUNK], state)
            loss = nn.functional.mse_loss(pred, y[:, t:t + CHUNK])
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
        state = tuple(s.detach() for s in state)
        losses.append(loss.item())
    return float(np.mean(losses))


torch.manual_seed(31)
train, test = meters(1), meters(2)
print("variance of the test target", round(test[1].var().item(), 3))
net = HeatLSTM()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(18):
    tr = sweep(net, *train, opt)
    print(f"epoch {epoch} train mse {tr:.4f} test mse {sweep(net, *test):.4f}")
