"""
Read hand-written amounts ("1500", "20", "300000" ...) from strips of digit images.
CNN over the strip -> BiLSTM -> CTC.
"""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

CHARS = "0123456789"
char2idx = {c: i for i, c in enumerate(CHARS)}
idx2char = {i: c for c, i in char2idx.items()}
N_OUT = len(CHARS) + 1


def random_amount(rng):
    head = "".join(rng.choice(list("123456789"), size=rng.integers(1, 4)))
    return head + "0" * int(rng.integers(0, 4))


def render(text, pool, rng):
    cols = []
    for ch in text:
        imgs = pool[ch]
        cols.append(imgs[rng.integers(len(imgs))])
        cols.append(np.zeros((8, int(rng.integers(1, 3))), dtype=np.float32))
    return np.concatenate(cols, axis=1)


def build_split(n, pool, rng):
    texts = [random_amount(rng) for _ in range(n)]
    strips = [render(t, pool, rng) for t in texts]
    return list(zip(strips, texts))


def collate(items):
    width = max(s.shape[1] for s, _ in items)
    width += width % 2
    x = torch.zeros(len(items), 1, 8, width)
    in_len, targets, t_len = [], [], []
    for k, (strip, text) in enumerate(items):
        x[k, 0, :, :strip.shape[1]] = torch.from_numpy(strip)
        in_len.append((strip.shape[1] + 1) // 2)
        targets.extend(char2idx[c] for c in text)
        t_len.append(len(text))
    texts = [t for _, t in items]
    return x, torch.tensor(in_len), torch.tensor(targets), torch.tensor(t_len), texts


class StripReader(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.rnn = nn.LSTM(32 * 4, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, N_OUT)

    def forward(self, x):
        f = self.conv(x)                                # B, C, 4, W/2
        f = f.permute(0, 3, 1, 2).flatten(2)            # B, W/2, C*4
        out, _ = self.rnn(f)
        return self.fc(out).log_softmax(-1)


def greedy_decode(log_probs, lengths):
    texts = []
    for seq, n in zip(log_probs.argmax(-1), lengths):
        prev, chars = None, []
        for k in seq[:n].tolist():
            if k != prev and k != 0:
                chars.append(idx2char.get(k, ""))
            prev = k
        texts.append("".join(chars))
    return texts


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    edits = chars = exact = 0
    for i in range(0, len(data), 100):
        x, in_len, _, _, texts = collate(data[i:i + 100])
        for hyp, ref in zip(greedy_decode(model(x), in_len), texts):
            edits += edit_distance(hyp, ref)
            chars += len(ref)
            exact += hyp == ref
    return edits / chars, exact / len(data)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)
    order = rng.permutation(len(images))
    tr, te = order[:1400], order[1400:]
    pool_tr = {c: images[tr][digits.target[tr] == int(c)] for c in CHARS}
    pool_te = {c: images[te][digits.target[te] == int(c)] for c in CHARS}
    train, test = build_split(2000, pool_tr, rng), build_split(300, pool_te, rng)

    model = StripReader()
    criterion = nn.CTCLoss(zero_infinity=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(6):
        model.train()
        perm = rng.permutation(len(train))
        losses = []
        for i in range(0, len(train), 48):
            x, in_len, targets, t_len, _ = collate([train[j] for j in perm[i:i + 48]])
            log_probs = model(x).transpose(0, 1)
            loss = criterion(log_probs, targets, in_len, t_len)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item())
        cer, exact = evaluate(model, test)
        print(f"epoch {epoch + 1}  ctc {np.mean(losses):.4f}  test CER {cer:.3f}  exact {exact:.3f}")
        if epoch == 3:
            optimizer.param_groups[0]["lr"] *= 0.2
    print(f"test CER {cer:.3f}  exact amounts {exact:.3f}")


if __name__ == "__main__":
    main()
