"""Bird call tagging: raw audio -> filterbank front end -> small conv net, half precision where it pays."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=360)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--clips", type=int, default=2000)
parser.add_argument("--no-amp", action="store_true")
opt = parser.parse_args()

SR, CLIP = 4000, 2048
SPECIES = ["wren", "owl", "cuckoo", "plover", "swift", "bittern"]
rng = np.random.default_rng(33)
torch.manual_seed(33)


def call(kind, t):
    """One stylised call."""
    f0, sweep, trill = [(900, 500, 18), (420, -80, 3), (620, -250, 2), (1100, 250, 6),
                        (1400, -500, 25), (250, 30, 4)][kind]
    f = f0 * rng.uniform(0.9, 1.1) + sweep * (t / t[-1]) + 20 * rng.normal()
    phase = 2 * math.pi * np.cumsum(f) / SR
    return np.sin(phase) * (0.6 + 0.4 * np.sin(2 * math.pi * trill * t + rng.uniform(0, 6)))


def make_clip(kind):
    t = np.arange(CLIP) / SR
    start, length = rng.uniform(0, 0.3), rng.uniform(0.4, 0.7)
    env = ((t / t[-1] > start) & (t / t[-1] < start + length)).astype(float)
    wave = call(kind, t) * env * rng.uniform(0.15, 0.8) + rng.normal(0, rng.uniform(0.05, 0.35), CLIP)
    if rng.random() < 0.008:                     # the recorder drops packets and pads with silence
        a = rng.integers(0, CLIP - 500)
        wave[a:a + 500] = 0.0
    return wave.astype("float32")


def make_set(n):
    kinds = rng.integers(0, len(SPECIES), n)
    return torch.from_numpy(np.stack([make_clip(k) for k in kinds])), torch.from_numpy(kinds)


class FilterBank(nn.Module):
    def __init__(self, n_fft=256, hop=128, bands=40):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        edges = torch.linspace(0, n_fft // 2, bands + 2)
        bins = torch.arange(n_fft // 2 + 1)[:, None]
        up = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
        down = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
        self.register_buffer("fb", torch.minimum(up, down).clamp(min=0))

    def forward(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, center=False,
                          return_complex=True).abs() / self.n_fft ** 0.5
        energy = spec.transpose(1, 2) @ self.fb          # (clips, frames, bands)
        return torch.log(energy + 1e-8)


class Tagger(nn.Module):
    def __init__(self, bands=40, width=48, n_out=len(SPECIES)):
        super().__init__()
        self.front = FilterBank(bands=bands)
        self.norm = nn.LayerNorm(bands)
        self.conv1 = nn.Conv1d(bands, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, padding=1)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(2 * width, n_out)

    def forward(self, wave):
        x = self.norm(self.front(wave)).transpose(1, 2)
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = torch.cat([x.mean(-1), x.amax(-1)], dim=1)
        return self.out(self.drop(x))


def amp():
    return torch.autocast("cpu", dtype=torch.float16, enabled=not opt.no_amp)


def score(net, waves, kinds):
    net.eval()
    with torch.no_grad(), amp():
        logits = torch.cat([net(w) for w in waves.split(200)]).float()
    net.train()
    return F.cross_entropy(logits, kinds).item(), (logits.argmax(1) == kinds).float().mean().item()


def main():
    x_train, y_train = make_set(opt.clips)
    x_test, y_test = make_set(600)
    net = Tagger()
    optimizer = torch.optim.AdamW(net.parameters(), lr=opt.lr, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, opt.steps)
    ema = None
    for step in range(1, opt.steps + 1):
        idx = torch.randint(0, len(x_train), (opt.batch_size,))
        with amp():
            logits = net(x_train[idx])
        loss = F.cross_entropy(logits.float(), y_train[idx])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        ema = loss.item() if ema is None else 0.95 * ema + 0.05 * loss.item()
        if step % 60 == 0:
            vl, va = score(net, x_test, y_test)
            print(f"step {step:4d}  train(ema) {ema:.3f}  held-out loss {vl:.3f}  acc {va:.3f}")
    _, acc = score(net, x_test, y_test)
    print(f"held-out accuracy {acc:.3f}, guessing {y_test.bincount().max().item() / len(y_test):.3f}")


if __name__ == "__main__":
    main()
