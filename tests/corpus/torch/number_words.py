import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS = 0, 1, 2
ONES = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
OUT = ["<pad>", "<bos>", "<eos>", "hundred", "thousand", "and"] + ONES[1:] + TENS[2:]
OUT_ID = {w: i for i, w in enumerate(OUT)}


def spell(n):
    words = []
    if n >= 1000:
        words += spell(n // 1000) + ["thousand"]
        n %= 1000
    if n >= 100:
        words += [ONES[n // 100], "hundred"]
        n %= 100
        if n:
            words.append("and")
    if n >= 20:
        words.append(TENS[n // 10])
        n %= 10
    if n:
        words.append(ONES[n])
    return words


class NumberData(torch.utils.data.Dataset):
    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, i):
        n = self.numbers[i]
        src = torch.tensor([int(c) + 3 for c in str(n)])
        tgt = torch.tensor([BOS] + [OUT_ID[w] for w in spell(n)] + [EOS])
        return src, tgt


def collate(rows):
    src, tgt = zip(*rows)
    return pad_sequence(src, batch_first=True), pad_sequence(tgt, batch_first=True)


class Seq2Seq(nn.Module):
    """GRU encoder and decoder with dot attention."""

    def __init__(self, width=96):
        super().__init__()
        self.src_emb = nn.Embedding(13, 32, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(len(OUT), 32, padding_idx=PAD)
        self.encoder = nn.GRU(32, width // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(32, width, batch_first=True)
        self.out = nn.Linear(2 * width, len(OUT))

    def encode(self, src):
        memory, h = self.encoder(self.src_emb(src))
        return memory, torch.cat([h[0], h[1]], -1)[None], src != PAD

    def decode(self, tokens, memory, h, mask):
        y, h = self.decoder(self.tgt_emb(tokens), h)
        att = (y @ memory.transpose(1, 2)).masked_fill(~mask[:, None], -1e9).softmax(-1)
        return self.out(torch.cat([y, att @ memory], -1)), h


class Module:
    def __init__(self):
        self.model = Seq2Seq()

    def configure_optimizers(self):
        return torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def training_step(self, batch):
        src, tgt = batch
        logits, _ = self.model.decode(tgt[:, 1:], *self.model.encode(src))
        return F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)

    @torch.no_grad()
    def greedy(self, src, limit=14):
        memory, h, mask = self.model.encode(src)
        tok = torch.full((len(src), 1), BOS)
        outs = []
        for _ in range(limit):
            logits, h = self.model.decode(tok, memory, h, mask)
            tok = logits.argmax(-1)
            outs.append(tok)
        return torch.cat(outs, 1)


class Fit:
    def __init__(self, epochs, clip=1.0):
        self.epochs, self.clip = epochs, clip

    def run(self, module, train, val):
        opt = module.configure_optimizers()
        for ep in range(self.epochs):
            module.model.train()
            losses = []
            for batch in train:
                loss = module.training_step(batch)
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(module.model.parameters(), self.clip)
                opt.step()
                losses.append(loss.item())
            module.model.eval()
            with torch.no_grad():
                vl = sum(module.training_step(b).item() for b in val) / len(val)
            print(f"epoch {ep + 1} train loss {sum(losses) / len(losses):.4f} val loss {vl:.4f}")


if __name__ == "__main__":
    random.seed(4)
    torch.manual_seed(4)
    numbers = random.sample(range(1, 100000), 7000)
    train_dl = torch.utils.data.DataLoader(NumberData(numbers[:6500]), 64, shuffle=True, collate_fn=collate)
    val_set = NumberData(numbers[6500:])
    val_dl = torch.utils.data.DataLoader(val_set, 250, collate_fn=collate)
    module = Module()
    Fit(epochs=8).run(module, train_dl, val_dl)
    right = 0
    for src, tgt in val_dl:
        guess = module.greedy(src)
        for g, t in zip(guess.tolist(), tgt.tolist()):
            g = g[:g.index(EOS)] if EOS in g else g
            right += g == t[1:t.index(EOS)]
    print(f"spelled exactly: {right}/{len(val_set)}")
