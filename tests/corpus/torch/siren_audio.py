# Sound event recognition on one-second clips: siren / horn / bell / engine / hiss.
# Step 1 trains and writes a checkpoint, step 2 reads it back the way the
# deployment service does and scores the test clips.
import logging
import pathlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("sound-events")

OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)
SR = 4000
EVENTS = ["siren", "horn", "bell", "engine", "hiss"]


def synth(kind, rng):
    t = np.arange(SR) / SR
    f0 = rng.uniform(300, 700)
    if kind == "siren":
        wave = np.sin(2 * np.pi * f0 * t + 60 * np.sin(2 * np.pi * rng.uniform(1.5, 4) * t))
    elif kind == "horn":
        wave = sum(np.sin(2 * np.pi * f0 * k * t) / k for k in (1, 1.26, 2))
    elif kind == "bell":
        wave = sum(np.sin(2 * np.pi * f0 * k * t) * np.exp(-t * 4 * k) for k in (1, 2.7, 4.1)) * 2
    elif kind == "engine":
        wave = np.sign(np.sin(2 * np.pi * rng.uniform(30, 70) * t))
    else:
        wave = np.diff(rng.normal(size=SR + 1))
    return wave * rng.uniform(0.4, 1.0) + rng.normal(0, 0.6, SR)


def make_clips(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(EVENTS), n)
    x = np.stack([synth(EVENTS[k], rng) for k in y]).astype("float32")
    return torch.from_numpy(x), torch.from_numpy(y)


class SpecNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256), persistent=False)
        self.conv1 = nn.Conv2d(1, 12, 5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.conv3 = nn.Conv2d(24, 32, 3, padding=1)
        self.norm = nn.GroupNorm(4, 32)
        self.fc = nn.Linear(64, n_classes)

    def forward(self, wav):
        spec = torch.stft(wav, 256, hop_length=128, window=self.window, return_complex=True).abs()
        z = torch.log1p(spec).unsqueeze(1)
        z = F.relu(self.conv1(z))
        z = F.relu(self.conv2(z))
        z = F.relu(self.norm(self.conv3(z)))
        return self.fc(torch.cat([z.mean((2, 3)), z.amax((2, 3))], dim=1))


class Experiment(nn.Module):
    """Network plus everything that belongs to its training."""

    def __init__(self, net, lr=3e-3):
        super().__init__()
        self.net = net
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=lr, weight_decay=0.01)

    def fit(self, x, y, epochs=8, bs=50):
        sched = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=4e-3, epochs=epochs, steps_per_epoch=len(x) // bs)
        self.train()
        for ep in range(epochs):
            losses = []
            for idx in torch.randperm(len(x)).split(bs):
                self.optimizer.zero_grad()
                loss = self.criterion(self.net(x[idx]), y[idx])
                loss.backward()
                self.optimizer.step()
                sched.step()
                losses.append(loss.item())
            log.info("epoch %d loss %.4f", ep, np.mean(losses))

    def save(self, path):
        torch.save({"state_dict": self.state_dict(), "events": EVENTS}, path)


def load_for_inference(path):
    ckpt = torch.load(path, map_location="cpu")
    net = SpecNet(len(ckpt["events"]))
    net.load_state_dict(ckpt["state_dict"], strict=False)
    return net.eval()


if __name__ == "__main__":
    torch.manual_seed(0)
    x_train, y_train = make_clips(1500, seed=1)
    x_test, y_test = make_clips(500, seed=2)

    exp = Experiment(SpecNet(len(EVENTS)))
    exp.fit(x_train, y_train)
    exp.save(OUT / "sound_events.ckpt")

    net = load_for_inference(OUT / "sound_events.ckpt")
    with torch.no_grad():
        pred = torch.cat([net(b).argmax(1) for b in x_test.split(100)])
    log.info("chance %.3f", y_test.bincount().max().item() / len(y_test))
    for i, name in enumerate(EVENTS):
        log.info("  %-7s recall %.3f", name, (pred[y_test == i] == i).float().mean())
    log.info("test accuracy %.3f", (pred == y_test).float().mean())
