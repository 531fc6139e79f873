import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence

random.seed(8)
torch.manual_seed(8)

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10]] + ([ONES[n % 10]] if n % 10 else [])
    if n < 1000:
        return [ONES[n // 100], "hundred"] + (["and"] + spell(n % 100) if n % 100 else [])
    return spell(n // 1000) + ["thousand"] + (spell(n % 1000) if n % 1000 else [])


PAD, BOS, EOS = 0, 1, 2
src_vocab = {w: i + 1 for i, w in enumerate(sorted(set(ONES + TENS[2:] + ["hundred", "and", "thousand"])))}
tgt_vocab = {d: i + 3 for i, d in enumerate("0123456789")}

numbers = random.sample(range(10000), 5000)
examples = [(torch.tensor([src_vocab[w] for w in spell(n)]), torch.tensor([BOS] + [tgt_vocab[d] for d in str(n)] + [EOS])) for n in numbers]
train, test = examples[:4500], examples[4500:]


def batches(data, size, shuffle):
    order = random.sample(range(len(data)), len(data)) if shuffle else range(len(data))
    for i in range(0, len(data), size):
        rows = [data[j] for j in order[i:i + size]]
        lengths = torch.tensor([len(s) for s, _ in rows])
        yield pad_sequence([s for s, _ in rows], True, PAD), lengths, pad_sequence([t for _, t in rows], True, PAD)


class Encoder(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.gru = nn.GRU(dim, hidden, batch_first=True)

    def forward(self, src, lengths):
        packed = pack_padded_sequence(self.embed(src), lengths, batch_first=True, enforce_sorted=False)
        _, state = self.gru(packed)
        return state


class Decoder(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state):
        h, state = self.gru(self.embed(tokens), state)
        return self.out(h), state


encoder = Encoder(len(src_vocab) + 1, 32, 96)
decoder = Decoder(len(tgt_vocab) + 3, 32, 96)
enc_opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
dec_opt = torch.optim.Adam(decoder.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)


def train_step(src, lengths, tgt):
    enc_opt.zero_grad()
    dec_opt.zero_grad()
    state = encoder(src, lengths)
    logits, _ = decoder(tgt[:, :-1], state.detach())
    loss = criterion(logits.reshape(-1, logits.size(-1)), tgt[:, 1:].reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(list(encoder.parameters()) + list(decoder.parameters()), 1.0)
    enc_opt.step()
    dec_opt.step()
    return loss.item()


@torch.no_grad()
def exact_match():
    hits = 0
    for src, lengths, tgt in batches(test, 250, False):
        state = encoder(src, lengths)
        token = torch.full((len(src), 1), BOS)
        alive = torch.ones(len(src), dtype=torch.bool)
        for t in range(1, tgt.size(1)):
            logits, state = decoder(token, state)
            token = logits[:, -1:].argmax(-1)
            alive &= (token[:, 0] == tgt[:, t]) | (tgt[:, t] == PAD)
        hits += alive.sum().item()
    return hits / len(test)


for epoch in range(14):
    losses = [train_step(*b) for b in batches(train, 64, True)]
    print(f"epoch {epoch + 1:2d} loss {sum(losses) / len(losses):.3f} exact match {exact_match():.3f}")
