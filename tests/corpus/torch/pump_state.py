"""State of a pump (idle / normal / cavitation / worn bearing) from three vibration channels."""
import numpy as np
import torch
from torch import nn

STATES = ["idle", "normal", "cavitation", "bearing"]
WIN = 128


def record(state, rng, n=WIN):
    t = np.arange(n)
    noise = rng.normal(0, 0.25, size=(3, n))
    if state == 0:
        sig = 0.02 * noise
    else:
        spin = np.sin(2 * np.pi * t / rng.uniform(14, 18) + rng.uniform(0, 6))
        sig = np.stack([spin, 0.6 * spin, 0.3 * spin]) + noise
        if state == 2:
            sig += 0.8 * rng.normal(size=(3, n)) * (np.sin(2 * np.pi * t / 40 + rng.uniform(0, 6)) > 0)
        elif state == 3:
            knocks = (t + rng.integers(0, 11)) % 11 == 0
            sig[1] += 1.6 * knocks
    quantised = np.round(sig * 20) / 20
    gain = rng.uniform(0.5, 2.0)
    return quantised * gain


def scale_windows(batch):
    mean = batch.mean(dim=2, keepdim=True)
    std = batch.std(dim=2, keepdim=True)
    return (batch - mean) / std


def stream(n_batches, size, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        y = rng.choice(4, size=size, p=[0.1, 0.4, 0.25, 0.25])
        x = np.stack([record(s, rng) for s in y])
        yield torch.tensor(x, dtype=torch.float32), torch.from_numpy(y)


class PumpNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(3, 24, 9, padding=4)
        self.c2 = nn.Conv1d(24, 32, 9, padding=4)
        self.head = nn.Linear(64, len(STATES))

    def forward(self, x):
        x = scale_windows(x)
        h = torch.relu(self.c1(x))
        h = torch.relu(self.c2(torch.max_pool1d(h, 2)))
        return self.head(torch.cat([h.mean(2), h.amax(2)], 1))


def main(steps=250):
    torch.manual_seed(2)
    net = PumpNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss()
    window = []
    for step, (x, y) in enumerate(stream(steps, 48, seed=100), 1):
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        window.append(loss.item())
        if step % 50 == 0:
            print(f"step {step:4d} loss {np.mean(window[-50:]):.4f}")

    net.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in stream(10, 100, seed=999):
            right += (net(x).argmax(1) == y).sum().item()
            total += len(y)
    print(f"test accuracy {right / total:.4f} (always 'normal': 0.40)")


if __name__ == "__main__":
    main()
