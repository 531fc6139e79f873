"""Rewrite a spoken time ("quarter past seven") as digits for subtitles; encoder-decoder, teacher forcing."""
import argparse
import contextlib

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

HOURS = "twelve one two three four five six seven eight nine ten eleven".split()
MINUTES = {5: "five", 10: "ten", 15: "quarter", 20: "twenty", 25: "twenty five"}


def spoken(h, m):
    if m == 0:
        return f"{HOURS[h % 12]} o clock"
    if m == 30:
        return f"half past {HOURS[h % 12]}"
    if m < 30:
        return f"{MINUTES[m]} past {HOURS[h % 12]}"
    return f"{MINUTES[60 - m]} to {HOURS[(h + 1) % 12]}"


WORDS = {w: i + 1 for i, w in enumerate(sorted(set(" ".join(HOURS + list(MINUTES.values()) + ["half past to o clock well it is now about almost"]).split())))}
FILL = ["well", "it is", "now", "about", "almost", ""]
DIGITS = {c: i for i, c in enumerate("_<>0123456789:")}
SRC, TGT = 9, 7


def samples(n, g):
    src, tgt = torch.zeros(n, SRC, dtype=torch.long), torch.zeros(n, TGT, dtype=torch.long)
    for i in range(n):
        h, m = int(torch.randint(0, 12, (1,), generator=g)), 5 * int(torch.randint(0, 12, (1,), generator=g))
        a, b = torch.randint(0, len(FILL), (2,), generator=g).tolist()
        words = f"{FILL[a]} {FILL[b]} {spoken(h, m)}".split()
        src[i, :len(words)] = torch.tensor([WORDS[w] for w in words])
        tgt[i] = torch.tensor([DIGITS[c] for c in f"<{h:02d}:{m:02d}>"])
    return src, tgt


class Rewriter(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.src = nn.Embedding(len(WORDS) + 1, dim, padding_idx=0)
        self.tgt = nn.Embedding(len(DIGITS), dim)
        self.src_pos, self.tgt_pos = nn.Embedding(SRC, dim), nn.Embedding(TGT, dim)
        self.encoders = nn.ModuleList([nn.TransformerEncoderLayer(dim, 4, 128, 0.1, batch_first=True, norm_first=True) for _ in range(2)])
        self.decoder = nn.TransformerDecoderLayer(dim, 4, 128, 0.1, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, len(DIGITS), bias=False)
        nn.init.normal_(self.tgt.weight, std=dim ** -0.5)
        self.out.weight = self.tgt.weight

    def forward(self, src, tgt):
        pad = src == 0
        h = self.src(src) + self.src_pos(torch.arange(src.size(1), device=src.device))
        for layer in self.encoders:
            if self.training:
                h = checkpoint(layer, h, None, pad, use_reentrant=False)
            else:
                h = layer(h, src_key_padding_mask=pad)
        length = tgt.size(1)
        causal = torch.ones(length, length, dtype=torch.bool, device=src.device).triu(1)
        d = self.tgt(tgt) * 8 + self.tgt_pos(torch.arange(length, device=src.device))
        return self.out(self.norm(self.decoder(d, h, tgt_mask=causal, memory_key_padding_mask=pad)))


@torch.no_grad()
def exact_match(model, src, tgt):
    model.eval()
    out = tgt[:, :1]
    for _ in range(TGT - 1):
        out = torch.cat([out, model(src, out)[:, -1:].argmax(-1)], 1)
    return (out == tgt).all(1).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=320)
    p.add_argument("--accumulate", type=int, default=3)
    p.add_argument("--bf16", action="store_true")
    args = p.parse_args()
    torch.manual_seed(44)
    g = torch.Generator().manual_seed(44)
    src, tgt = samples(3000, g)
    src_test, tgt_test = samples(200, g)
    model = Rewriter()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 60, (60 / (s + 1)) ** 0.5))
    cast = torch.autocast("cpu", torch.bfloat16) if args.bf16 else contextlib.nullcontext()
    for step in range(args.steps):
        model.train()
        shown = 0.0
        for _ in range(args.accumulate):
            rows = torch.randint(0, len(src), (32,))
            with cast:
                logits = model(src[rows], tgt[rows, :-1])
            loss = criterion(logits.float().flatten(0, 1), tgt[rows, 1:].flatten()) / args.accumulate
            loss.backward()
            shown += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        scheduler.step()
        if step % 40 == 39:
            print(f"step {step + 1} loss {shown:.3f} lr {scheduler.get_last_lr()[0]:.5f} exact {exact_match(model, src_test, tgt_test):.3f}")


if __name__ == "__main__":
    main()
