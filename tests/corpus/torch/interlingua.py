"""Translate short market phrases into a made-up language with a GRU encoder-decoder."""
import argparse
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

NUMBERS = dict(zip("one two three four five six".split(), "ka lo mi ne su ti".split()))
COLOURS = dict(zip("red green blue white".split(), "rosa vera azul blan".split()))
NOUNS = dict(zip("apples pears ropes bells lamps knives".split(), "apu piru sogo kampo lumo tranco".split()))
PAD, BOS, EOS = 0, 1, 2


def phrase(rng):
    src, tgt = [], []
    for k in range(rng.randint(1, 2)):
        n, c, o = rng.choice(list(NUMBERS)), rng.choice(list(COLOURS)), rng.choice(list(NOUNS))
        if k:
            src.append("and")
            tgt.append("e")
        src += [n, c, o]
        tgt += [NOUNS[o], COLOURS[c], NUMBERS[n]]
    return src, tgt


class Vocab:
    def __init__(self, words):
        self.itos = ["<pad>", "<s>", "</s>"] + sorted(words)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def ids(self, words):
        return torch.tensor([self.stoi[w] for w in words])


class Encoder(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)

    def forward(self, src, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(src), lengths, batch_first=True, enforce_sorted=False)
        _, hidden = self.rnn(packed)
        return hidden


class Decoder(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tgt, hidden):
        states, hidden = self.rnn(self.embed(tgt), hidden)
        return self.out(states), hidden


class Translator(nn.Module):
    def __init__(self, n_src, n_tgt, dim=32, hidden=96):
        super().__init__()
        self.encoder = Encoder(n_src, dim, hidden)
        self.decoder = Decoder(n_tgt, dim, hidden)

    def forward(self, src, lengths, tgt):
        hidden = self.encoder(src, lengths).detach()
        logits, _ = self.decoder(tgt, hidden)
        return logits

    @torch.no_grad()
    def translate(self, src, lengths, max_len=9):
        hidden = self.encoder(src, lengths)
        token = torch.full((len(src), 1), BOS)
        out = []
        for _ in range(max_len):
            logits, hidden = self.decoder(token, hidden)
            token = logits.argmax(-1)
            out.append(token)
        return torch.cat(out, 1)


def collate_with(sv, tv):
    def collate(rows):
        src = [sv.ids(s) for s, _ in rows]
        tgt = [torch.cat([torch.tensor([BOS]), tv.ids(t), torch.tensor([EOS])]) for _, t in rows]
        lengths = torch.tensor([len(s) for s in src])
        return pad_sequence(src, True, PAD), lengths, pad_sequence(tgt, True, PAD)
    return collate


def exact_match(model, loader):
    model.eval()
    right = total = 0
    for src, lengths, tgt in loader:
        guess = model.translate(src, lengths)
        for g, t in zip(guess.tolist(), tgt.tolist()):
            g = g[:g.index(EOS)] if EOS in g else g
            right += g == t[1:t.index(EOS)]
            total += 1
    return right / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)

    sv = Vocab([*NUMBERS, *COLOURS, *NOUNS, "and"])
    tv = Vocab([*NUMBERS.values(), *COLOURS.values(), *NOUNS.values(), "e"])
    pairs = [phrase(rng) for _ in range(3500)]
    collate = collate_with(sv, tv)
    train_dl = DataLoader(pairs[:3000], batch_size=64, shuffle=True, collate_fn=collate)
    test_dl = DataLoader(pairs[3000:], batch_size=100, collate_fn=collate)

    model = Translator(len(sv), len(tv))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for src, lengths, tgt in train_dl:
            logits = model(src, lengths, tgt[:, :-1])
            loss = criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        scheduler.step()
        print(f"epoch {epoch + 1:2d}  loss {total / len(train_dl):.4f}  exact {exact_match(model, test_dl):.3f}")


if __name__ == "__main__":
    main()
