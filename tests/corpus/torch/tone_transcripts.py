# Toy speech recogniser: letters are spoken as short noisy formant patterns,
# a BiGRU with CTC has to write them down.
import random

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

ALPHABET = "abcdefghij"
CHAR_TO_ID = {ch: i for i, ch in enumerate(ALPHABET)}
BLANK = len(ALPHABET)
N_MELS = 16

random.seed(17)
np.random.seed(17)
torch.manual_seed(17)
TEMPLATES = np.random.default_rng(99).normal(size=(len(ALPHABET), 2, N_MELS)).astype(np.float32)


def speak(text, rng):
    """Each letter: an onset and a tail of random length, with pauses in between."""
    voice = rng.normal(0, 0.3, N_MELS)
    frames = [rng.normal(0, 0.3, (rng.integers(1, 3), N_MELS))]
    for ch in text:
        onset, tail = TEMPLATES[CHAR_TO_ID[ch]]
        k = rng.integers(3, 6)
        mix = np.linspace(0, 1, k)[:, None]
        frames.append((1 - mix) * onset + mix * tail + voice + rng.normal(0, 0.5, (k, N_MELS)))
        if rng.random() < 0.4:
            frames.append(rng.normal(0, 0.3, (rng.integers(1, 3), N_MELS)))
    return np.concatenate(frames).astype(np.float32)


class Utterances(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            text = "".join(rng.choice(list(ALPHABET), rng.integers(3, 7)))
            self.items.append((torch.from_numpy(speak(text, rng)), text))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    feats = pad_sequence([f for f, _ in batch], batch_first=True)
    feat_len = torch.tensor([len(f) for f, _ in batch])
    texts = [t for _, t in batch]
    target = torch.tensor([CHAR_TO_ID[c] for t in texts for c in t])
    target_len = torch.tensor([len(t) for t in texts])
    return feats, feat_len, target, target_len, texts


class Recogniser(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.norm = nn.LayerNorm(N_MELS)
        self.rnn = nn.GRU(N_MELS, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, len(ALPHABET) + 1)

    def forward(self, feats):
        h, _ = self.rnn(self.norm(feats))
        return self.head(h).log_softmax(-1)


def greedy(log_probs, lengths):
    out = []
    for row, n in zip(log_probs.argmax(-1), lengths):
        ids = torch.unique_consecutive(row[:n]).tolist()
        out.append("".join(ALPHABET[i] for i in ids if i != BLANK))
    return out


def edit_distance(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


@torch.no_grad()
def character_error_rate(model, loader):
    model.eval()
    wrong = total = 0
    for feats, feat_len, _, _, texts in loader:
        hyps = greedy(model(feats), feat_len)
        wrong += sum(edit_distance(h, t) for h, t in zip(hyps, texts))
        total += sum(len(t) for t in texts)
    return wrong / total, list(zip(texts, hyps))[:3]


train = DataLoader(Utterances(1000, 1), batch_size=32, shuffle=True, collate_fn=collate)
test = DataLoader(Utterances(300, 2), batch_size=100, collate_fn=collate)
model = Recogniser()
ctc = nn.CTCLoss(zero_infinity=True)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(1, 9):
    model.train()
    losses = []
    for feats, feat_len, target, target_len, _ in train:
        log_probs = model(feats).transpose(0, 1)
        loss = ctc(log_probs, target, feat_len, target_len)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch:2d}  ctc loss {np.mean(losses):.4f}")

cer, examples = character_error_rate(model, test)
for text, hyp in examples:
    print(f"  said {text!r:10}  heard {hyp!r}")
print(f"held-out character error rate {cer:.3f}   (writing nothing: 1.000)")
