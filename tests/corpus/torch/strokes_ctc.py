# Reading strips of handwritten digits (sklearn digits glued together) with CTC.
# classes 0..9 are the digits, class 10 is the blank
import argparse
import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--n-train", type=int, default=1500)
ap.add_argument("--n-test", type=int, default=250)
ap.add_argument("--epochs", type=int, default=9)
ap.add_argument("--bs", type=int, default=25)
ap.add_argument("--lr", type=float, default=5e-3)
args = ap.parse_args()

BLANK = 10
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

digits = load_digits()
order = np.random.permutation(len(digits.target))
pool_tr, pool_te = order[:1300], order[1300:]


def strip(pool):
    k = random.randint(2, 5)
    picks = [random.choice(pool) for _ in range(k)]
    cols = [np.zeros((8, random.randint(0, 3)))]
    for p in picks:
        cols += [digits.images[p], np.zeros((8, random.randint(1, 3)))]
    return torch.tensor(np.concatenate(cols, 1) / 16, dtype=torch.float32), [int(digits.target[p]) for p in picks]


def collate(items):
    widths = [im.shape[1] for im, _ in items]
    x = torch.zeros(len(items), 1, 8, max(widths))
    for i, (im, _) in enumerate(items):
        x[i, 0, :, :im.shape[1]] = im
    return (x, torch.tensor(widths), torch.tensor(sum((t for _, t in items), [])),
            torch.tensor([len(t) for _, t in items]))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d((2, 2)), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU())
        self.rnn = nn.GRU(32 * 4, 48, bidirectional=True)
        self.cls = nn.Linear(96, 11)

    def forward(self, x, widths):
        f = self.conv(x)                                     # B,32,4,W/2
        B, C, H, W = f.shape
        f = f.permute(3, 0, 1, 2).reshape(W, B, C * H)       # time, batch, features
        steps = torch.clamp(widths // 2, max=W)
        packed = nn.utils.rnn.pack_padded_sequence(f, steps, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], total_length=W)
        return self.cls(h).log_softmax(-1), steps


def greedy(logp, steps):
    best = logp.argmax(-1).T
    res = []
    for row, n in zip(best.tolist(), steps.tolist()):
        row = row[:n]
        res.append([c for i, c in enumerate(row) if c != BLANK and (i == 0 or c != row[i - 1])])
    return res


def edit(a, b):
    d = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, cb in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (ca != cb))
    return d[-1]


train = [strip(pool_tr) for _ in range(args.n_train)]
test = [strip(pool_te) for _ in range(args.n_test)]
net = Reader()
ctc = nn.CTCLoss(blank=BLANK, zero_infinity=True)
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
sched = torch.optim.lr_scheduler.StepLR(opt, 3, 0.4)


def score():
    net.eval()
    err = tot = exact = 0
    with torch.no_grad():
        for i in range(0, len(test), 50):
            part = test[i:i + 50]
            x, w, _, _ = collate(part)
            for hyp, (_, ref) in zip(greedy(*net(x, w)), part):
                e = edit(hyp, ref)
                err, tot, exact = err + e, tot + len(ref), exact + (e == 0)
    return err / tot, exact / len(test)


for ep in range(args.epochs):
    net.train()
    random.shuffle(train)
    tot = 0.0
    for i in range(0, len(train), args.bs):
        x, w, y, yl = collate(train[i:i + args.bs])
        logp, steps = net(x, w)
        loss = ctc(logp, y, steps, yl)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        opt.step()
        tot += loss.item()
    sched.step()
    cer, ex = score()
    print(f"ep {ep}: ctc {tot * args.bs / len(train):.3f}  test digit error {cer:.3f}  whole strips right {ex:.3f}")
print(f"final held-out digit error rate {cer:.3f} (empty answers: 1.000)")
