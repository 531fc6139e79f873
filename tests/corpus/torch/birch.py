"""Encoder-decoder transformer that sorts the digits of a sequence in descending order."""
import argparse
import math

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS = 0, 1, 2
OFFSET, N_DIGITS = 3, 10
VOCAB = OFFSET + N_DIGITS


def sample_pairs(n, lo=4, hi=9):
    src, tgt = [], []
    for _ in range(n):
        digits = torch.randint(0, N_DIGITS, (int(torch.randint(lo, hi + 1, ())),)) + OFFSET
        src.append(digits)
        tgt.append(torch.cat([torch.tensor([BOS]), digits.sort(descending=True).values, torch.tensor([EOS])]))
    return pad_sequence(src, batch_first=True, padding_value=PAD), pad_sequence(tgt, batch_first=True, padding_value=PAD)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class Sorter(nn.Module):
    def __init__(self, d_model=64, nhead=4, layers=1):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d_model, padding_idx=PAD)
        self.pos = PositionalEncoding(d_model)
        self.core = nn.Transformer(d_model, nhead, layers, layers, 128, dropout=0.0, batch_first=True)
        self.generator = nn.Linear(d_model, VOCAB)
        self.scale = math.sqrt(d_model)
        self.d_model = d_model
        nn.init.normal_(self.embed.weight, std=d_model ** -0.5)

    def encode(self, ids):
        return self.pos(self.embed(ids) * self.scale)

    def forward(self, src, tgt):
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.size(1)).isinf()
        pad = src == PAD
        h = self.core(self.encode(src), self.encode(tgt), tgt_mask=causal, src_key_padding_mask=pad,
                      tgt_key_padding_mask=tgt == PAD, memory_key_padding_mask=pad)
        return self.generator(h)


def noam(d_model, warmup, factor):
    return lambda step: factor * d_model ** -0.5 * min((step + 1) ** -0.5, (step + 1) * warmup ** -1.5)


@torch.no_grad()
def exact_match(model, n=200):
    model.eval()
    src, tgt = sample_pairs(n)
    out = torch.full((n, 1), BOS)
    for _ in range(tgt.size(1) - 1):
        out = torch.cat([out, model(src, out)[:, -1].argmax(-1, keepdim=True)], 1)
    ok = ((out == tgt) | (tgt == PAD)).all(1)
    model.train()
    return ok.float().mean().item()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--steps", type=int, default=900)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--warmup", type=int, default=200)
    p.add_argument("--factor", type=float, default=0.4)
    p.add_argument("--smoothing", type=float, default=0.1)
    a = p.parse_args()
    torch.manual_seed(0)

    model = Sorter()
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=a.smoothing, reduction="sum")
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, noam(model.d_model, a.warmup, a.factor))

    for step in range(1, a.steps + 1):
        src, tgt = sample_pairs(a.batch)
        logits = model(src, tgt[:, :-1])
        gold = tgt[:, 1:]
        loss = criterion(logits.reshape(-1, VOCAB), gold.reshape(-1)) / (gold != PAD).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 150 == 0:
            print(f"step {step} loss {loss.item():.3f} lr {scheduler.get_last_lr()[0]:.5f} exact {exact_match(model):.3f}")


if __name__ == "__main__":
    main()
