#!/usr/bin/env python
"""GRU encoder/decoder that learns to write a list of symbols backwards."""
import torch
import torch.nn as nn
from torch.optim import Adam
from torch.optim.lr_scheduler import MultiStepLR

PAD, SOS, EOS, FIRST = 0, 1, 2, 3
N_SYM, MAX_LEN = 12, 7
BATCH, STEPS_PER_EPOCH, EPOCHS = 64, 50, 12

gen = torch.Generator().manual_seed(17)
torch.manual_seed(17)


def sample_batch(b=BATCH):
    src = torch.full((b, MAX_LEN), PAD)
    tgt = torch.full((b, MAX_LEN + 2), PAD)
    lens = torch.randint(3, MAX_LEN + 1, (b,), generator=gen)
    for i, n in enumerate(lens.tolist()):
        s = torch.randint(FIRST, FIRST + N_SYM, (n,), generator=gen)
        src[i, :n] = s
        tgt[i, 0] = SOS
        tgt[i, 1:n + 1] = s.flip(0)
        tgt[i, n + 1] = EOS
    return src, lens, tgt


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.emb = nn.Embedding(FIRST + N_SYM, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, src, lens):
        packed = nn.utils.rnn.pack_padded_sequence(self.emb(src), lens, batch_first=True, enforce_sorted=False)
        return self.rnn(packed)[1]


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.emb = nn.Embedding(FIRST + N_SYM, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.proj = nn.Linear(dim, FIRST + N_SYM)

    def forward(self, tokens, state):
        y, state = self.rnn(self.emb(tokens), state)
        return self.proj(y), state


def exact_match(enc, dec, n=256):
    with torch.no_grad():
        src, lens, tgt = sample_batch(n)
        state, tok, out = enc(src, lens), torch.full((n, 1), SOS), []
        for _ in range(MAX_LEN + 1):
            logits, state = dec(tok, state)
            tok = logits.argmax(-1)
            out.append(tok)
        out, gold = torch.cat(out, 1), tgt[:, 1:]
        return ((out == gold) | (gold == PAD)).all(1).float().mean().item()


enc, dec = Encoder(96), Decoder(96)
opt = Adam([{"params": enc.parameters(), "lr": 3e-3}, {"params": dec.parameters(), "lr": 5e-3}])
sched = MultiStepLR(opt, milestones=[8, 10, 11], gamma=0.2)
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD)

for epoch in range(EPOCHS):
    epoch_loss = 0.0
    for _ in range(STEPS_PER_EPOCH):
        src, lens, tgt = sample_batch()
        logits, _ = dec(tgt[:, :-1], enc(src, lens))
        loss = loss_fn(logits.flatten(0, 1), tgt[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*enc.parameters(), *dec.parameters()], 1.0)
        opt.step()
        epoch_loss += loss.item() / STEPS_PER_EPOCH
    sched.step()
    print(f"epoch {epoch + 1:2d} loss {epoch_loss:.3f} exact {exact_match(enc, dec):.3f}")
