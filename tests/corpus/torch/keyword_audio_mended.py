# Keyword spotting on synthetic "spoken" commands: each word is a sequence of formant-like
# sweeps. Mixed precision training loop, taken over from our GPU box.
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 11
SR = 4000
N_SAMPLES = 2400
EPOCHS = 8
BATCH = 32
LR = 0.05
CLIP = 1.0
device = "cuda" if torch.cuda.is_available() else "cpu"

torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

# (start Hz, end Hz) sweeps of every syllable
WORDS = {
    "yes": [(400, 900), (1500, 1300)],
    "no": [(900, 400), (500, 350)],
    "up": [(500, 1200)],
    "down": [(1200, 500)],
    "left": [(600, 700), (1100, 1500)],
    "right": [(1500, 1100), (700, 600)],
}


def synth(word):
    wave = np.zeros(N_SAMPLES, np.float32)
    sylls = WORDS[word]
    pos = rng.integers(50, 500)
    dur = int(rng.uniform(0.8, 1.1) * 1400 / len(sylls))
    pitch = rng.uniform(0.85, 1.15)
    for f0, f1 in sylls:
        t = np.arange(dur) / SR
        T = dur / SR
        phase = 2 * math.pi * pitch * (f0 * t + (f1 - f0) * t ** 2 / (2 * T))
        wave[pos:pos + dur] += (np.hanning(dur) * np.sin(phase + rng.uniform(0, 6))).astype(np.float32)
        pos += dur
    return wave + 1.0 * rng.standard_normal(N_SAMPLES).astype(np.float32)


def make_split(n):
    names = list(WORDS)
    y = rng.integers(0, len(names), n)
    x = torch.from_numpy(np.stack([synth(names[i]) for i in y]))
    spec = torch.stft(x, 128, hop_length=64, window=torch.hann_window(128), return_complex=True).abs()
    return TensorDataset(torch.log1p(spec).unsqueeze(1), torch.from_numpy(y))


train_ds, test_ds = make_split(960), make_split(300)
feats = torch.stack([f for f, _ in train_ds])
mu, sd = feats.mean(), feats.std()
train_dl = DataLoader(train_ds, BATCH, shuffle=True)
test_dl = DataLoader(test_ds, 100)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d((8, 4)),
    nn.Flatten(), nn.Linear(32 * 32, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, len(WORDS)),
).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9, nesterov=True, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, LR, total_steps=EPOCHS * len(train_dl))
scaler = torch.amp.GradScaler(device)
criterion = nn.CrossEntropyLoss()


def evaluate():
    net.eval()
    hits = total = 0
    with torch.no_grad():
        for spec, label in test_dl:
            out = net(((spec - mu) / sd).to(device))
            hits += (out.argmax(1).cpu() == label).sum().item()
            total += len(label)
    return hits / total


for epoch in range(EPOCHS):
    net.train()
    loss_sum = 0.0
    for spec, label in train_dl:
        spec, label = ((spec - mu) / sd).to(device), label.to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type=device, dtype=torch.float16 if device == "cuda" else torch.bfloat16):
            logits = net(spec)
            loss = criterion(logits, label)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        loss_sum += loss.item() * len(label)
    print(f"[{epoch + 1}/{EPOCHS}] loss={loss_sum / len(train_ds):.4f} "
          f"test_acc={evaluate():.3f} lr={scheduler.get_last_lr()[0]:.4f}")

print(f"chance {1 / len(WORDS):.3f}, held-out accuracy {evaluate():.3f}")
