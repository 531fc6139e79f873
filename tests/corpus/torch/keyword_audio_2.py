# Keyword spotting on synthetic audio: log spectrogram, small CNN, mixup, bf16 autocast, EMA weights,
# plain SGD with a rate that climbs to 0.5 (every conv is followed by BatchNorm).
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

RATE, LENGTH = 4000, 2048
WORDS = ["up", "down", "yes", "no", "stop", "go"]
# each word is a sequence of (start Hz, end Hz) glides
GLIDES = {"up": [(300, 900)], "down": [(900, 300)], "yes": [(500, 1100), (1500, 1500)],
          "no": [(700, 400), (400, 400)], "stop": [(1500, 1500), (600, 600), (0, 0)], "go": [(350, 600), (600, 350)]}

torch.manual_seed(8)
np.random.seed(8)


def utter(word, rng):
    glides = GLIDES[word]
    total = int(rng.integers(900, 1500))
    pitch, out = rng.uniform(0.85, 1.15), []
    for lo, hi in glides:
        n = total // len(glides)
        freq = np.linspace(lo, hi, n) * pitch
        tone = np.sin(2 * np.pi * np.cumsum(freq) / RATE) + 0.4 * np.sin(4 * np.pi * np.cumsum(freq) / RATE)
        out.append(tone * (np.hanning(n) + 0.3) * (lo > 0))
    voice = np.concatenate(out)
    wave = np.zeros(LENGTH)
    start = rng.integers(0, LENGTH - len(voice))
    wave[start:start + len(voice)] = voice * rng.uniform(0.3, 1.0)
    return wave + rng.normal(0, rng.uniform(0.05, 0.5), LENGTH)


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(WORDS), n)
    return torch.tensor(np.stack([utter(WORDS[i], rng) for i in y]), dtype=torch.float32), torch.tensor(y)


class LogSpec(nn.Module):
    def __init__(self, n_fft=128, hop=64):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True).abs()
        return torch.log1p(5 * spec)[:, None, :64, :32]


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm2d(1, affine=False), conv(1, 12), conv(12, 24), conv(24, 32))
        self.head = nn.Linear(32 * 8, len(WORDS))

    def forward(self, spec):
        h = self.body(spec)                      # B, 32, 8, 4
        return self.head(h.amax(dim=-1).flatten(1))


class Ema:
    def __init__(self, model, decay=0.97):
        self.model, self.decay = copy.deepcopy(model).eval().requires_grad_(False), decay

    @torch.no_grad()
    def update(self, model):
        for a, b in zip(self.model.parameters(), model.parameters()):
            a.lerp_(b, 1 - self.decay)
        for a, b in zip(self.model.buffers(), model.buffers()):
            a.lerp_(b, 1 - self.decay) if a.is_floating_point() else a.copy_(b)


def mixup(x, y, alpha=0.3):
    lam = float(np.random.beta(alpha, alpha))
    other = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[other], y, y[other], lam


@torch.no_grad()
def accuracy(model, spec, y):
    return (model(spec).argmax(1) == y).float().mean().item()


frontend = LogSpec()
wave_train, y_train = corpus(1800, 1)
wave_test, y_test = corpus(600, 2)
with torch.no_grad():
    spec_train, spec_test = frontend(wave_train), frontend(wave_test)
print("spectrograms", tuple(spec_train.shape), "majority", round((y_test.bincount().max() / len(y_test)).item(), 3))

EPOCHS, BATCH = 8, 50
model = Spotter()
ema = Ema(model)
opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True, weight_decay=5e-4)
steps = EPOCHS * (len(y_train) // BATCH)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.5, total_steps=steps, pct_start=0.3, cycle_momentum=False,
                                            div_factor=20)
for epoch in range(EPOCHS):
    model.train()
    order, losses = torch.randperm(len(y_train)), []
    for idx in order.split(BATCH):
        x, ya, yb, lam = mixup(spec_train[idx], y_train[idx])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        logits = logits.float()
        loss = lam * F.cross_entropy(logits, ya) + (1 - lam) * F.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        sched.step()
        ema.update(model)
        losses.append(loss.item())
    print(f"epoch {epoch + 1} mixed loss {np.mean(losses):.3f} lr {sched.get_last_lr()[0]:.4f} "
          f"ema test acc {accuracy(ema.model, spec_test, y_test):.3f}")

os.makedirs("out", exist_ok=True)
torch.save(ema.model.state_dict(), "out/spotter.pt")
print(f"final accuracy of the averaged weights {accuracy(ema.model, spec_test, y_test):.3f}")
